// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {
    Approval,
    Commitment,
    IEscrow,
    MandateOutput,
    SolveParams,
    StandardOrder
} from "../../src/interfaces/IEscrow.sol";
import {OrderLib} from "../../src/libraries/OrderLib.sol";
import {Filler} from "../mocks/Filler.sol";
import {Model} from "./Model.sol";

/// @notice Everything that anybody can do to two escrows and an oracle, each step with its outcome foretold: whether it
/// succeeds, and exactly whose ledger entries and tokens move by how much.
contract Handler is Model {
    /* LEDGER */

    function deposit(uint256 seed) external step {
        (uint256 who, uint256 to, uint256 t) = (_pick(seed, 1, ACTORS), _pick(seed, 2, ACTORS), _pick(seed, 3, 2));
        IEscrow place = _place(seed);
        uint256 amount = bound(_draw(seed, 4), 1, unit(t) * 1000);
        _mint(who, t, amount);
        if (_try("deposit", actor(who), place, abi.encodeCall(place.depositFor, (actor(to), token(t), amount)), true)) {
            _wallet(who, t, -int256(amount));
            _ledger(place, to, t, int256(amount));
        }
    }

    function requestWithdrawal(uint256 seed) external step {
        (uint256 who, uint256 t) = (_pick(seed, 1, ACTORS), _pick(seed, 2, 2));
        IEscrow place = _place(seed);
        uint256 have = ledgerOf[address(place)][who][t];
        uint256 amount = bound(_draw(seed, 3), 0, have + have / 2);
        bytes memory data = abi.encodeCall(place.requestWithdrawal, (token(t), amount));
        if (_try("requestWithdrawal", actor(who), place, data, amount <= have)) {
            requested[address(place)][who][t] = Request(amount, amount == 0 ? 0 : clock + DELAY);
        }
    }

    /// @dev Half of the time by somebody who never asked.
    function withdraw(uint256 seed) external step {
        (uint256 who, uint256 t) = (_pick(seed, 1, ACTORS), _pick(seed, 2, 2));
        IEscrow place = _place(seed);
        if (_draw(seed, 3) % 4 != 0) (place, who, t) = _someRequest(place, who, t);
        Request memory request = requested[address(place)][who][t];
        uint256 have = ledgerOf[address(place)][who][t];
        uint256 amount = request.amount < have ? request.amount : have;
        bool ripe = amount != 0 && clock >= request.from && clock <= request.from + WINDOW;
        if (_try("withdraw", actor(who), place, abi.encodeCall(place.withdraw, (token(t), actor(who))), ripe)) {
            delete requested[address(place)][who][t];
            _ledger(place, who, t, -int256(amount));
            _wallet(who, t, int256(amount));
        }
    }

    /// @dev By anyone, ripe or not, paid before or not.
    function withdrawDeferred(uint256 seed) external step {
        if (tracked.length == 0) return;
        (uint256 n, uint256 i) = _someDeferral(seed);
        MandateOutput memory o = _orderOf(n).outputs[i];
        uint256 until = tracked[n].deferredUntil[i];
        IEscrow place = _settlerOf(o);
        bytes memory data = abi.encodeCall(place.withdrawDeferred, (tracked[n].id, o));
        if (!_try("withdrawDeferred", _anyone(seed), place, data, until != 0 && clock >= until)) return;
        uint256 a = _endDeferral(n, i, o);
        uint256 t = _tokenIndex(o.token);
        uint256 have = ledgerOf[address(place)][a][t];
        uint256 amount = o.amount < have ? o.amount : have;
        _ledger(place, a, t, -int256(amount));
        _wallet(a, t, int256(amount));
    }

    function keepDeferred(uint256 seed) external step {
        if (tracked.length == 0 || _draw(seed, 4) % 2 == 0) return;
        (uint256 n, uint256 i) = _someDeferral(seed);
        MandateOutput memory o = _orderOf(n).outputs[i];
        bool waits = tracked[n].deferredUntil[i] != 0;
        address caller = waits && _draw(seed, 3) % 2 == 0 ? actor(_accountOf(o)) : _anyone(seed);
        IEscrow place = _settlerOf(o);
        bytes memory data = abi.encodeCall(place.keepDeferred, (tracked[n].id, o));
        bool fine = waits && caller == actor(_accountOf(o));
        if (_try("keepDeferred", caller, place, data, fine)) _endDeferral(n, i, o);
    }

    function _endDeferral(uint256 n, uint256 i, MandateOutput memory o) private returns (uint256 a) {
        a = _accountOf(o);
        tracked[n].deferredUntil[i] = 0;
        deferredSum[address(_settlerOf(o))][a][_tokenIndex(o.token)] -= o.amount;
    }

    function setOperator(uint256 seed) external step {
        uint256 i = _pick(seed, 1, 3);
        IEscrow place = _place(seed);
        bool allowed = _draw(seed, 2) % 3 != 0;
        if (_try("setOperator", lp(i), place, abi.encodeCall(place.setOperator, (operator(i), allowed)), true)) {
            operates[address(place)][i] = allowed;
            limited[address(place)][i] = false;
        }
    }

    /// @dev Of one token: the other one's is what it was, zero at first.
    function limitOperator(uint256 seed) external step {
        (uint256 i, uint256 t) = (_pick(seed, 1, 3), _pick(seed, 2, 2));
        IEscrow place = _place(seed);
        uint96 most = uint96(bound(_draw(seed, 3), 0, unit(t) * 10));
        uint32 window = uint32(_draw(seed, 4) % 4 == 0 ? 1 : bound(_draw(seed, 5), 1, 1 hours));
        bytes memory data = abi.encodeCall(place.limitOperator, (operator(i), token(t), most, window));
        if (!_try("limitOperator", lp(i), place, data, true)) return;
        operates[address(place)][i] = limited[address(place)][i] = true;
        Allowance storage l = allowances[address(place)][i][t];
        (l.most, l.window) = (most, window);
        if (most > l.peak) l.peak = most;
    }

    function allowanceAt(IEscrow place, uint256 i, uint256 t) external view returns (bool, Allowance memory) {
        return (limited[address(place)][i], allowances[address(place)][i][t]);
    }

    function operatorAt(uint256 i) external pure returns (address) {
        return operator(i);
    }

    /// @dev Tokens sent to an escrow without a word are nobody's.
    function donate(uint256 seed) external step {
        uint256 t = _pick(seed, 1, 2);
        IEscrow place = _place(seed);
        uint256 amount = bound(_draw(seed, 2), 1, unit(t));
        _mintTo(address(place), t, amount);
        donated[address(place)][t] += amount;
    }

    /// @dev By anyone, of anyone.
    function collectFees(uint256 seed) external step {
        (uint256 a, uint256 t) = (_pick(seed, 1, ACTORS), _pick(seed, 2, 2));
        bytes memory data = abi.encodeCall(escrow.collectFees, (actor(a), token(t)));
        if (!_try("collectFees", _anyone(seed), escrow, data, true)) return;
        _ledger(escrow, FEES, t, int256(feesDue[a][t]));
        feesDue[a][t] = 0;
    }

    /* TIME */

    function pass(uint256 seed) external step {
        clock += seed % 5 == 0 ? bound(_draw(seed, 1), 1, 2 hours) : bound(_draw(seed, 1), 1, 6 minutes);
    }

    /* SAME CHAIN */

    function settle(uint256 seed) external step {
        StandardOrder memory order = _build(seed, _draw(seed, 90) % 8 == 0 ? CROSS_QUOTE : QUOTE);
        bool success = _settleCall(seed, order);
        uint256 n = _track(order, order.outputs[0].chainId == HERE ? QUOTE : CROSS_QUOTE, success ? CLAIMED : NONE);
        if (!success) return;
        tracked[n].settled = true;
        _paidIn(n, order, _index(order.user), _mode(seed, 7));
        for (uint256 i; i < order.outputs.length; ++i) {
            _delivered(n, i, order, escrow, _lpOf(order.outputs[i]), true);
        }
        _count(escrow, _spendings(order, seed, 80, false));
        _creditLps(n, order);
    }

    function _settleCall(uint256 seed, StandardOrder memory order) private returns (bool) {
        uint256 mode = _mode(seed, 7);
        bytes memory funding = _fund(order, mode, _userKey(order));
        (Commitment[] memory list, bool fine) = _commit(order, seed);
        // A commitment to an order across chains moves nothing.
        fine = fine && order.outputs[0].chainId == HERE && _covered(escrow, order)
            && _within(escrow, _spendings(order, seed, 80, false));
        address caller = mode == SELF ? order.user : _anyone(seed);
        return _try("settle", caller, escrow, abi.encodeCall(escrow.settle, (order, funding, list)), fine);
    }

    function settleThrough(uint256 seed) external step {
        StandardOrder memory order = _build(seed, _draw(seed, 90) % 8 == 0 ? PLAIN : FILLER_QUOTE);
        bool success = _settleThroughCall(seed, order);
        uint256 n = _track(order, order.outputs[0].context.length == 0 ? PLAIN : QUOTE, success ? CLAIMED : NONE);
        if (!success) return;
        _paidIn(n, order, _index(order.user), _mode(seed, 7));
        for (uint256 i; i < order.outputs.length; ++i) {
            _delivered(n, i, order, escrow, FILLER, false);
            _wallet(FILLER, _tokenIndex(order.outputs[i].token), -int256(order.outputs[i].amount));
        }
        for (uint256 j; j < order.inputs.length; ++j) {
            uint256 fees = _fees(order, j);
            uint256 t = _tokenIndex(bytes32(order.inputs[j][0]));
            _ledger(escrow, FEES, t, int256(fees));
            _wallet(FILLER, t, int256(order.inputs[j][1] - fees));
            tracked[n].paidOut[t] += order.inputs[j][1];
        }
    }

    function _settleThroughCall(uint256 seed, StandardOrder memory order) private returns (bool) {
        uint256 mode = _mode(seed, 7);
        bytes memory funding = _fund(order, mode, _userKey(order));
        Filler.Cheat cheat = Filler.Cheat(_draw(seed, 91) % 10 > 4 ? 0 : _draw(seed, 91) % 5);
        for (uint256 i; i < order.outputs.length; ++i) {
            _mint(FILLER, _tokenIndex(order.outputs[i].token), order.outputs[i].amount);
        }
        address caller = mode == SELF ? order.user : _anyone(seed);
        bytes memory data = abi.encodeCall(escrow.settleThrough, (order, funding, actor(FILLER), abi.encode(cheat)));
        bool fine = cheat == Filler.Cheat.None && order.outputs[0].context.length != 0;
        return _try("settleThrough", caller, escrow, data, fine);
    }

    /* OPEN */

    /// @dev By anyone in any mode, with the user's money or a sponsor's; now and then under a nonce the user has voided.
    function open(uint256 seed) external step {
        uint256 kind = _draw(seed, 90) % 4;
        StandardOrder memory order = _build(seed, kind);
        if (kind == QUOTE && _draw(seed, 93) % 4 != 0) order = toOpen(order);
        address sponsor = _mode(seed, 9) >= SPONSOR_PERMIT ? stranger : order.user;
        bool success = _openCall(seed, order, sponsor);
        uint256 n = _track(order, kind, success ? DEPOSITED : NONE);
        if (success) _paidIn(n, order, _index(sponsor), _mode(seed, 9));
    }

    function _openCall(uint256 seed, StandardOrder memory order, address sponsor) private returns (bool) {
        uint256 mode = _mode(seed, 9);
        bytes memory funding = _fund(order, mode, sponsor == stranger ? STRANGER : _userKey(order));
        // A quote that names the escrow as its oracle is only settled, and one that does not is opened by its user alone.
        bool quote = order.outputs[0].context.length != 0;
        bool fine = !quote || (order.inputOracle != address(escrow) && sponsor == order.user);
        if (_draw(seed, 92) % 8 == 0) {
            vm.prank(order.user);
            escrow.invalidateNonce(order.nonce);
            fine = fine && sponsor == stranger;
        }
        bytes memory data = mode == SELF
            ? abi.encodeCall(escrow.open, (order))
            : abi.encodeCall(escrow.openFor, (order, sponsor, funding));
        return _try("open", mode == SELF ? order.user : _anyone(seed), escrow, data, fine);
    }

    /* FILL */

    /// @dev By the LP, its operator, or a stranger out of its own pocket, in the LP's name or its own.
    function fill(uint256 seed) external step {
        if (tracked.length == 0) return;
        uint256 n = _recent(seed);
        StandardOrder memory order = _orderOf(n);
        if (_draw(seed, 4) % 3 == 0) return _fill(seed, n, _pick(seed, 2, order.outputs.length), order);
        for (uint256 i; i < order.outputs.length; ++i) {
            _fill(_draw(seed, i), n, i, order);
        }
    }

    function _fill(uint256 seed, uint256 n, uint256 i, StandardOrder memory order) private {
        MandateOutput memory o = order.outputs[i];
        IEscrow place = _settlerOf(o);
        (address caller, address solver, bool ledger) = _fillerOf(o, place, _draw(seed, 3) % 4);
        // What settle delivers leaves no record, and its order takes no fill.
        bool fresh = tracked[n].filledAt[i] == 0 || tracked[n].settled;
        // A fill that is there already is answered whatever became of the order since.
        bool fine = clock <= order.fillDeadline && (!fresh || _fillable(n, o))
            && (o.context.length == 0 || _lpOf(o) == _index(solver));
        uint256[2][3] memory sums;
        if (fresh && ledger && caller != solver) sums[_index(solver) - 2][_tokenIndex(o.token)] = o.amount;
        fine = fine && _within(place, sums);
        bool pays = fine && fresh && !ledger;
        // What the caller pays with is minted just before, so its own tokens stay as they were.
        if (pays) _mintTo(caller, _tokenIndex(o.token), o.amount);
        bytes memory data = abi.encodeCall(place.fill, (tracked[n].id, o, order.fillDeadline, fillerData(solver)));
        if (!_try("fill", caller, place, data, fine) || !fresh) return;
        _delivered(n, i, order, place, _index(solver), ledger);
        _count(place, sums);
    }

    function fillWithApprovals(uint256 seed) external step {
        (uint256 n, bool found) = _recentQuote(seed);
        if (!found) return;
        StandardOrder memory order = _orderOf(n);
        IEscrow place = _settlerOf(order.outputs[0]);
        (Approval[] memory list, bool fine) = _approve(seed, n, order, place);
        fine = fine && clock <= order.fillDeadline && _covered(place, order)
            && _within(place, _spendings(order, seed, 20, false));
        bytes memory data =
            abi.encodeCall(place.fillWithApprovals, (tracked[n].id, order.outputs, order.fillDeadline, list));
        if (!_try("fillWithApprovals", _anyone(seed), place, data, fine)) return;
        for (uint256 i; i < list.length; ++i) {
            _delivered(n, i, order, place, _lpOf(order.outputs[i]), true);
        }
        _count(place, _spendings(order, seed, 20, false));
    }

    function _approve(uint256 seed, uint256 n, StandardOrder memory order, IEscrow place)
        private
        returns (Approval[] memory list, bool fine)
    {
        list = new Approval[](order.outputs.length);
        fine = true;
        for (uint256 i; i < list.length; ++i) {
            (uint256 key, bool allowed) = _signerOf(place, _lpOf(order.outputs[i]), _draw(seed, 20 + i));
            list[i] = _approval(n, i, order, key);
            fine = fine && allowed && tracked[n].filledAt[i] == 0 && _fillable(n, order.outputs[i]);
        }
    }

    function _approval(uint256 n, uint256 i, StandardOrder memory order, uint256 key)
        private
        returns (Approval memory approval)
    {
        IEscrow place = _settlerOf(order.outputs[i]);
        if (_isRemote(place)) vm.chainId(THERE);
        approval = approvalFor(place, tracked[n].id, order.outputs[i], order.fillDeadline, key);
        vm.chainId(HERE);
    }

    /* PROOF */

    /// @dev Signers attest what they saw filled, and only that.
    function attest(uint256 seed) external step {
        if (tracked.length == 0) return;
        uint256 n = _recent(seed);
        StandardOrder memory order = _orderOf(n);
        for (uint256 i; i < order.outputs.length; ++i) {
            if (order.outputs[i].chainId == THERE && tracked[n].filledAt[i] != 0) _attest(seed, n, i, order);
        }
    }

    function _attest(uint256 seed, uint256 n, uint256 i, StandardOrder memory order) private {
        bytes32[] memory payloads = new bytes32[](1);
        payloads[0] = _payloadHash(n, i, order);
        uint256 count = _draw(seed, 3 + i) % 2 == 0 ? 1 : 3;
        bytes[] memory signatures = attestations(THERE, address(remote), payloads[0], count);
        bytes memory data = abi.encodeCall(oracle.submit, (THERE, word(address(remote)), payloads, signatures));
        if (_try("attest", _anyone(seed), IEscrow(address(oracle)), data, count >= oracle.threshold())) {
            tracked[n].proven[i] = true;
        }
    }

    /// @dev The oracle's owner at work: the same people, another threshold, two days from now.
    function rotate(uint256 seed) external step {
        bytes memory data = abi.encodeCall(oracle.scheduleSigners, (sortedSigners(), 1 + _draw(seed, 1) % 3));
        bool owner = _draw(seed, 2) % 2 == 0;
        _try("rotate", owner ? address(this) : _anyone(seed), IEscrow(address(oracle)), data, owner);
    }

    /* END */

    function finalise(uint256 seed) external step {
        if (tracked.length == 0) return;
        uint256 n = _recent(seed);
        StandardOrder memory order = _orderOf(n);
        bool plain = order.outputs[0].context.length == 0;
        address owner = tracked[n].solver[0];
        address caller = _draw(seed, 2) % 2 == 0 && owner != address(0) ? owner : _anyone(seed);
        bool fine = _claimable(n, order);
        bytes memory data;
        if (plain && caller != owner) {
            // Somebody else brings the owner's signature, in half of the cases a stranger's.
            uint256 key = _draw(seed, 3) % 2 == 0 ? _keyOf(owner) : 0xdead;
            if (key == 0xdead) fine = false;
            data = abi.encodeCall(
                escrow.finaliseWithSignature, (order, _solves(n, order), word(owner), "", _allowOpen(n, owner, key))
            );
        } else {
            data = abi.encodeCall(escrow.finalise, (order, _solves(n, order), word(owner), ""));
        }
        if (!_try("finalise", caller, escrow, data, fine)) return;
        tracked[n].status = CLAIMED;
        if (plain) _payInputs(n, order, _index(owner));
        else _creditLps(n, order);
    }

    function _solves(uint256 n, StandardOrder memory order) private view returns (SolveParams[] memory params) {
        params = new SolveParams[](order.outputs.length);
        for (uint256 i; i < params.length; ++i) {
            params[i] = SolveParams(tracked[n].filledAt[i], word(tracked[n].solver[i]));
        }
    }

    function refund(uint256 seed) external step {
        if (tracked.length == 0) return;
        uint256 n = _recent(seed);
        StandardOrder memory order = _orderOf(n);
        bool fine = tracked[n].status == DEPOSITED && clock > order.expires;
        if (!_try("refund", _anyone(seed), escrow, abi.encodeCall(escrow.refund, (order)), fine)) return;
        tracked[n].status = REFUNDED;
        _payInputs(n, order, _index(order.user));
    }

    function release(uint256 seed) external step {
        (uint256 n, bool found) = _recentQuote(seed);
        if (!found || _draw(seed, 5) % 3 != 0) return;
        StandardOrder memory order = _orderOf(n);
        bool fine = tracked[n].status == DEPOSITED;
        bytes[] memory list = new bytes[](order.outputs.length);
        for (uint256 i; i < list.length; ++i) {
            (uint256 key, bool allowed) = _signerOf(escrow, _lpOf(order.outputs[i]), _draw(seed, 20 + i));
            list[i] = releaseSignature(tracked[n].id, key);
            fine = fine && allowed;
        }
        fine = fine && _within(escrow, _spendings(order, seed, 20, true));
        if (!_try("release", _anyone(seed), escrow, abi.encodeCall(escrow.release, (order, list)), fine)) return;
        _count(escrow, _spendings(order, seed, 20, true));
        tracked[n].status = REFUNDED;
        _payInputs(n, order, _index(order.user));
    }

    /* ABUSE: none of it ever works */

    /// @dev What was done once, again: every order that has begun, opened or settled a second time with fresh signatures.
    function replay(uint256 seed) external step {
        if (tracked.length == 0) return;
        uint256 n = _recent(seed);
        StandardOrder memory order = _orderOf(n);
        if (tracked[n].status == NONE) return;
        uint256 mode = _mode(seed, 7);
        bytes memory funding = _fund(order, mode, _userKey(order));
        address caller = mode == SELF ? order.user : _anyone(seed);
        if (_draw(seed, 3) % 2 == 0) {
            _try("replay", caller, escrow, abi.encodeCall(escrow.openFor, (order, order.user, funding)), false);
        } else if (order.outputs[0].context.length != 0 && _lpOf(order.outputs[0]) != FILLER) {
            (Commitment[] memory list,) = _commit(order, seed);
            _try("replay", caller, escrow, abi.encodeCall(escrow.settle, (order, funding, list)), false);
        }
    }

    /// @dev A second order under the nonce of one that its user funded.
    function reuseNonce(uint256 seed) external step {
        if (tracked.length == 0) return;
        uint256 n = _recent(seed);
        if (tracked[n].status == NONE || !tracked[n].byUser) return;
        StandardOrder memory order = _build(seed, PLAIN);
        order.user = _orderOf(n).user;
        order.nonce = _orderOf(n).nonce;
        uint256 mode = _mode(seed, 7);
        bytes memory funding = _fund(order, mode, _userKey(order));
        address caller = mode == SELF ? order.user : _anyone(seed);
        _try("reuseNonce", caller, escrow, abi.encodeCall(escrow.openFor, (order, order.user, funding)), false);
    }

    /// @dev A stranger signs what takers and LPs have to sign.
    function forge(uint256 seed) external step {
        uint256 kind = _draw(seed, 1) % 6;
        StandardOrder memory order = _build(seed, QUOTE);
        uint256 mode = _mode(seed, 7);
        if (kind == 0) {
            order = toOpen(order);
            bytes memory funding = _fund(order, mode, STRANGER);
            _try("forge", stranger, escrow, abi.encodeCall(escrow.openFor, (order, order.user, funding)), false);
        } else if (kind == 1) {
            bytes memory funding = _fund(order, mode, STRANGER);
            (Commitment[] memory list,) = _commit(order, seed);
            _try("forge", stranger, escrow, abi.encodeCall(escrow.settle, (order, funding, list)), false);
        } else if (kind == 2) {
            bytes memory funding = _fund(order, mode, _userKey(order));
            Commitment[] memory list = commitments(order);
            uint256 last = list.length - 1;
            list[last].signature = sign(STRANGER, commitmentDigest(idOf(order), list[last]));
            address caller = mode == SELF ? order.user : stranger;
            _try("forge", caller, escrow, abi.encodeCall(escrow.settle, (order, funding, list)), false);
        } else {
            _forgeLater(seed, kind);
        }
    }

    function _forgeLater(uint256 seed, uint256 kind) private {
        (uint256 n, bool found) = _recentQuote(seed);
        if (!found) return;
        StandardOrder memory order = _orderOf(n);
        uint256 outputs = order.outputs.length;
        if (kind == 3) {
            Approval[] memory list = new Approval[](outputs);
            for (uint256 i; i < outputs; ++i) {
                list[i] = _approval(n, i, order, STRANGER);
            }
            IEscrow place = _settlerOf(order.outputs[0]);
            bytes memory data =
                abi.encodeCall(place.fillWithApprovals, (tracked[n].id, order.outputs, order.fillDeadline, list));
            _try("forge", stranger, place, data, false);
        } else if (kind == 4) {
            bytes[] memory list = new bytes[](outputs);
            for (uint256 i; i < outputs; ++i) {
                list[i] = releaseSignature(tracked[n].id, STRANGER);
            }
            _try("forge", stranger, escrow, abi.encodeCall(escrow.release, (order, list)), false);
        } else if (!_claimable(n, order)) {
            SolveParams[] memory params = new SolveParams[](outputs);
            for (uint256 i; i < outputs; ++i) {
                params[i] = SolveParams(uint32(clock), word(actor(_lpOf(order.outputs[i]))));
            }
            bytes memory data = abi.encodeCall(escrow.finalise, (order, params, word(stranger), ""));
            _try("forge", stranger, escrow, data, false);
        }
    }

    function _allowOpen(uint256 n, address destination, uint256 key) private view returns (bytes memory) {
        return sign(
            key,
            typed(
                address(escrow),
                keccak256(
                    abi.encode(OrderLib.ALLOW_OPEN_TYPEHASH, tracked[n].id, word(destination), keccak256(""))
                )
            )
        );
    }
}
