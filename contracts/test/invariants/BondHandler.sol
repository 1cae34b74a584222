// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Commitment, MandateOutput, OrderStatus, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {IQuoteBond} from "../../src/interfaces/IQuoteBond.sol";
import {AwkwardToken} from "../mocks/AwkwardToken.sol";
import {BondBase} from "../support/BondBase.sol";

/// @notice Two LPs with a bond. The honest one promises no more than it has, counts what is about to leave as gone, revokes an
/// operator after the deadlines of what it signed, and fills what was opened in time. The other keeps to nothing. Around
/// them takers and strangers do what they can: late openings, gifts, paused tokens, recipients that refuse, and a claim of
/// every promise after each step.
contract BondHandler is BondBase {
    struct Promise {
        uint256 lp;
        bool acrossChains;
        /// @dev Covered by the LP's terms if it is opened in time.
        bool covered;
        bool claimed;
        uint256 nonce;
        uint256 amount;
        bytes32 orderId;
        bytes signature;
        Commitment commitment;
    }

    uint256 internal constant HONEST = 0;
    uint256 internal constant OTHER = 1;
    uint256 internal constant UNIT = 1e6;
    uint256 internal constant RECENT = 10;

    AwkwardToken public gold;
    Promise[] private promises;
    bytes[] private signedOrders;
    uint256 private clock;
    /// @dev Which of its two operators the honest LP signs with.
    uint256 private current;
    uint256 private lastDeadline;

    /// @dev Per token, gold first: what the LPs posted less what they took back and what claims cost.
    uint256[2][2] public bonds;
    uint256[2] public forfeits;
    /// @dev Per LP, what claims cost it.
    uint256[2] public lost;
    string public surprise;
    mapping(string step => uint256) public done;

    function setUp() public override {
        super.setUp();
        clock = block.timestamp;
        gold = new AwkwardToken(18);
        for (uint256 i; i < 2; ++i) {
            gold.mint(address(this), 3000 * UNIT);
            gold.approve(address(escrow), 1000 * UNIT);
            gold.approve(address(remote), 1000 * UNIT);
            gold.approve(address(bond), 1000 * UNIT);
            escrow.depositFor(lp(i), address(gold), 1000 * UNIT);
            remote.depositFor(lp(i), address(gold), 1000 * UNIT);
            bond.post(lp(i), address(gold), 1000 * UNIT);
            bonds[i] = [1000 * UNIT, bonded(lp(i), address(usd))];
            setTerms(lp(i), FILL_WINDOW, i == OTHER);
        }
        depositTaker(address(usd), 900_000e6);
    }

    modifier step() {
        vm.warp(clock);
        vm.chainId(HERE);
        _;
        _claimAll();
        clock = block.timestamp;
    }

    function operatorOf(uint256 which) private pure returns (address) {
        return vm.addr(OPERATOR + 1000 * which);
    }

    function draw(uint256 seed, uint256 what, uint256 n) private pure returns (uint256) {
        return uint256(keccak256(abi.encode(seed, what))) % n;
    }

    function place() external view returns (IQuoteBond) {
        return bond;
    }

    function tokenAt(uint256 t) external view returns (address) {
        return t == 0 ? address(gold) : address(usd);
    }

    function lpAt(uint256 i) external pure returns (address) {
        return lp(i);
    }

    function forfeitAccount() external view returns (address) {
        return forfeitTo;
    }

    function takerAccount() external view returns (address) {
        return taker;
    }

    function orderAt(uint256 n) private view returns (StandardOrder memory) {
        return abi.decode(signedOrders[n], (StandardOrder));
    }

    /// @dev Orders of before have no time left, and are refunded: each quote takes seven seconds.
    function firstRecent() private view returns (uint256) {
        return promises.length > RECENT ? promises.length - RECENT : 0;
    }

    /* WHAT THE HONEST LP COUNTS */

    function open(uint256 n) private view returns (bool) {
        Promise storage p = promises[n];
        return p.commitment.deadline >= block.timestamp && !escrow.isNonceUsed(taker, p.nonce);
    }

    /// @dev Its balance on one chain less what is promised or about to leave.
    function free() private view returns (uint256) {
        uint256 balance = escrow.balanceOf(lp(HONEST), address(gold));
        (uint256 leaving,,) = escrow.pendingWithdrawal(lp(HONEST), address(gold));
        uint256 gone = promised() + leaving + escrow.deferredOf(lp(HONEST), address(gold));
        return balance > gone ? balance - gone : 0;
    }

    function promised() private view returns (uint256 sum) {
        for (uint256 n = firstRecent(); n < promises.length; ++n) {
            if (promises[n].lp == HONEST && !promises[n].acrossChains && open(n)) sum += promises[n].amount;
        }
    }

    function limitLeft() private view returns (uint256) {
        (bool limited, uint256 most_,,, uint256 spent) =
            escrow.operatorLimit(lp(HONEST), operatorOf(current), address(gold));
        if (!limited) return type(uint96).max;
        uint256 gone = promised() + spent;
        return most_ > gone ? most_ - gone : 0;
    }

    /* STEPS */

    function quote(uint256 seed) external step {
        uint256 which = draw(seed, 1, 3) == 0 ? OTHER : HONEST;
        uint256 amount = 1000 + draw(seed, 2, 200 * UNIT);
        if (which == HONEST && (amount > free() || amount > limitLeft())) return;
        bool both = draw(seed, 4, 3) == 0;
        StandardOrder memory order = blank(10e6, both ? 2 : 1);
        order.outputs[0] = output(escrow, HERE, both ? amount / 2 : amount, "");
        if (both) {
            order.outputs[1] = output(escrow, HERE, amount - amount / 2, "");
            order.outputs[1].token = word(address(gold));
            order.outputs[1].recipient = word(taker);
            order.outputs[1].context = quoteContext(lp(which), order.fillDeadline, 5_000, FEE, 0);
        }
        _finish(seed, order, which, false, amount);
    }

    function quoteAcross(uint256 seed) external step {
        uint256 which = draw(seed, 1, 3) == 0 ? OTHER : HONEST;
        uint256 amount = 1 + draw(seed, 2, UNIT);
        StandardOrder memory order = cross();
        order.inputs[0][1] = 10e6;
        _finish(seed, order, which, true, amount);
    }

    function _finish(uint256 seed, StandardOrder memory order, uint256 which, bool acrossChains, uint256 amount)
        private
    {
        MandateOutput memory o = order.outputs[0];
        o.token = word(address(gold));
        if (acrossChains) o.amount = amount;
        uint16 portion = order.outputs.length == 1 ? 10_000 : 5_000;
        o.context = quoteContext(lp(which), order.fillDeadline, portion, FEE, 0);
        uint256 to = draw(seed, 3, 4);
        if (to == 0) (o.recipient, o.callbackData) = (o.settler, ledgerData(false, taker));
        if (to == 1) (o.recipient, o.callbackData) = (o.settler, ledgerData(true, lp(HONEST)));
        // Nothing answers the call.
        if (to == 2) o.callbackData = hex"01";
        Commitment memory c = Commitment(keccak256("quote"), lp(which), order.fillDeadline, "");
        bytes32 orderId = idOf(order);
        uint256 key = which == HONEST ? OPERATOR + 1000 * current : OPERATOR + 16;
        c.signature = sign(key, commitmentDigest(orderId, c));
        signedOrders.push(abi.encode(order));
        bool covered = acrossChains && (to < 2 || (to == 3 && which == OTHER));
        promises.push(
            Promise(which, acrossChains, covered, false, order.nonce, amount, orderId, orderSignature(order), c)
        );
        // So that what is looked at after each step covers all that is open.
        _wait(7);
        if (which == HONEST && order.fillDeadline > lastDeadline) lastDeadline = order.fillDeadline;
        ++done[acrossChains ? "quoteAcross" : "quote"];
    }

    function settle(uint256 seed) external step {
        if (promises.length == 0) return;
        uint256 n = promises.length - 1 - draw(seed, 1, promises.length > 8 ? 8 : promises.length);
        StandardOrder memory order = orderAt(n);
        bytes memory funding = byLedger(order);
        if (promises[n].acrossChains) {
            try escrow.openFor(order, taker, funding) {
                ++done["open"];
            } catch {}
            return;
        }
        Commitment[] memory list = new Commitment[](order.outputs.length);
        for (uint256 i; i < list.length; ++i) {
            list[i] = promises[n].commitment;
        }
        try escrow.settle(order, funding, list) {
            ++done["settle"];
        } catch {}
    }

    /// @dev An LP pays for an order of its own making under the nonce of a promise, or for the promise itself: neither may use up
    /// the taker's claim.
    function sponsor(uint256 seed) external step {
        if (promises.length == 0) return;
        StandardOrder memory order = orderAt(draw(seed, 1, promises.length));
        if (draw(seed, 2, 2) == 0) {
            uint256 nonce = order.nonce;
            order = cross();
            order.nonce = nonce;
            order.inputs[0][1] = 1;
        }
        usd.mint(lp(OTHER), order.inputs[0][1]);
        bytes memory funding = byOrder3009(order, LP + 16);
        try escrow.openFor(order, lp(OTHER), funding) {
            surprise = "a quote was opened for somebody else";
        } catch {
            ++done["sponsor"];
        }
    }

    function invalidate(uint256 seed) external step {
        if (promises.length == 0) return;
        vm.prank(taker);
        try escrow.invalidateNonce(promises[draw(seed, 1, promises.length)].nonce) {} catch {}
    }

    function pass(uint256 seed) external step {
        _wait(draw(seed, 1, 8) == 0 ? 2 hours : 1 + draw(seed, 2, 40));
    }

    /// @dev Before time goes on the honest LP delivers what was opened.
    function _wait(uint256 time) private {
        for (uint256 n = firstRecent(); n < promises.length; ++n) {
            if (promises[n].acrossChains && promises[n].lp == HONEST) _deliver(n);
        }
        vm.warp(block.timestamp + time);
    }

    function _deliver(uint256 n) private {
        StandardOrder memory order = orderAt(n);
        bytes32 orderId = idOf(order);
        if (escrow.orderStatus(orderId) != OrderStatus.Deposited || block.timestamp > order.fillDeadline) return;
        vm.chainId(THERE);
        if (remote.balanceOf(lp(HONEST), address(gold)) < order.outputs[0].amount) {
            bool paused = gold.paused();
            gold.setPaused(false);
            gold.mint(address(this), UNIT);
            gold.approve(address(remote), UNIT);
            remote.depositFor(lp(HONEST), address(gold), UNIT);
            gold.setPaused(paused);
        }
        vm.prank(lp(HONEST));
        try remote.fill(orderId, order.outputs[0], order.fillDeadline, fillerData(lp(HONEST))) {
            vm.chainId(HERE);
            attest(hashes.payloadHash(word(lp(HONEST)), orderId, uint32(block.timestamp), order.outputs[0]));
            escrow.finalise(order, solves(lp(HONEST), block.timestamp), 0, "");
            ++done["deliver"];
        } catch {
            vm.chainId(HERE);
        }
    }

    function pause(uint256 seed) external step {
        gold.setPaused(draw(seed, 1, 3) == 0);
    }

    function deposit(uint256 seed) external step {
        uint256 amount = 1 + draw(seed, 1, 100 * UNIT);
        gold.setPaused(false);
        gold.mint(address(this), amount);
        gold.approve(address(escrow), amount);
        escrow.depositFor(lp(draw(seed, 2, 2)), address(gold), amount);
    }

    function push(uint256 seed) external step {
        uint256 first = draw(seed, 1, promises.length + 1);
        for (uint256 n = first; n < promises.length && n < first + 20; ++n) {
            StandardOrder memory order = orderAt(n);
            try escrow.withdrawDeferred(idOf(order), order.outputs[0]) {
                ++done["push"];
                return;
            } catch {}
        }
    }

    function withdraw(uint256 seed) external step {
        vm.startPrank(lp(HONEST));
        try escrow.withdraw(address(gold), lp(HONEST)) {
            ++done["withdraw"];
        } catch {
            (uint256 leaving,,) = escrow.pendingWithdrawal(lp(HONEST), address(gold));
            escrow.requestWithdrawal(address(gold), draw(seed, 1, leaving + free() + 1));
        }
        vm.stopPrank();
    }

    /// @dev The honest LP moves what is free, the other what it likes.
    function move(uint256 seed) external step {
        if (gold.paused()) return;
        uint256 which = draw(seed, 1, 2);
        uint256 balance = escrow.balanceOf(lp(which), address(gold));
        uint256 amount = draw(seed, 2, (which == HONEST ? free() : balance) + 1);
        if (amount != 0) moveAway(lp(which), address(gold), balance - amount);
    }

    function rotate(uint256 seed) external step {
        if (draw(seed, 1, 2) == 0) {
            vm.prank(lp(OTHER));
            escrow.setOperator(operator(1), draw(seed, 2, 2) == 0);
            return;
        }
        if (block.timestamp <= lastDeadline) return;
        vm.startPrank(lp(HONEST));
        escrow.setOperator(operatorOf(current), false);
        current = 1 - current;
        escrow.setOperator(operatorOf(current), true);
        vm.stopPrank();
        ++done["rotate"];
    }

    function limit(uint256 seed) external step {
        uint256 spare = limitLeft();
        uint96 to = uint96(promised() + 300 * UNIT);
        (,,,, uint256 spent) = escrow.operatorLimit(lp(HONEST), operatorOf(current), address(gold));
        if (spare != 0) {
            vm.prank(lp(HONEST));
            escrow.limitOperator(operatorOf(current), address(gold), to + uint96(spent), uint32(1 + draw(seed, 1, 100)));
        }
        vm.prank(lp(OTHER));
        escrow.limitOperator(operator(1), address(gold), uint96(draw(seed, 2, 200 * UNIT)), 60);
    }

    function takeBack(uint256 seed) external step {
        uint256 which = draw(seed, 1, 2);
        vm.startPrank(lp(which));
        try bond.takeBack(address(gold), lp(which)) returns (uint256 amount) {
            bonds[which][0] -= amount;
            ++done["takeBack"];
        } catch {
            bond.requestTakeBack(address(gold), draw(seed, 2, bonded(lp(which), address(gold)) + 1));
        }
        vm.stopPrank();
        _wait(draw(seed, 3, 2) * 12 hours);
    }

    /* CLAIMS, by a stranger, of everything */

    function _claimAll() private {
        for (uint256 n = firstRecent(); n < promises.length; ++n) {
            promises[n].acrossChains ? _claimUnfilled(n) : _claim(n);
        }
    }

    function _claim(uint256 n) private {
        Promise storage p = promises[n];
        StandardOrder memory order = orderAt(n);
        bool expected = p.lp == OTHER && !p.claimed && open(n) && _broken(p);
        vm.prank(stranger);
        try bond.claim(order, p.signature, p.commitment) returns (uint256[] memory paid) {
            _paid(p, expected, 0, paid[0], p.amount);
            ++done["claim"];
        } catch {
            if (expected && _costs(OTHER, 0, p.amount) != 0) surprise = "a claim was refused";
        }
    }

    /// @dev Whether the other LP's promise cannot be kept now.
    function _broken(Promise storage p) private view returns (bool) {
        uint256 amount = p.amount;
        if (!escrow.isOperator(lp(OTHER), operator(1))) return _mayBeSigned(p);
        if (escrow.balanceOf(lp(OTHER), address(gold)) < amount) return true;
        (bool limited, uint256 most_, uint256 window, uint256 since, uint256 spent) =
            escrow.operatorLimit(lp(OTHER), operator(1), address(gold));
        if (!limited) return false;
        return amount + (block.timestamp < since + window ? spent : 0) > most_;
    }

    function _mayBeSigned(Promise storage p) private view returns (bool) {
        return escrow.isOperator(lp(OTHER), operator(1))
            || p.commitment.deadline <= escrow.revokedAt(lp(OTHER), operator(1)) + DELAY;
    }

    function _claimUnfilled(uint256 n) private {
        Promise storage p = promises[n];
        StandardOrder memory order = orderAt(n);
        bytes32 orderId = idOf(order);
        uint256 openedAt = escrow.openedAt(orderId);
        bool expected = p.lp == OTHER && !p.claimed && p.covered && _mayBeSigned(p) && openedAt != 0
            && openedAt + FILL_WINDOW <= order.fillDeadline && block.timestamp > order.expires;
        vm.prank(stranger);
        try bond.claimUnfilled(order, p.commitment) returns (uint256[] memory paid) {
            _paid(p, expected, 1, paid[0], order.inputs[0][1]);
            ++done["claimUnfilled"];
        } catch {
            if (expected && _costs(OTHER, 1, order.inputs[0][1]) != 0) surprise = "an unfilled order was refused";
        }
    }

    function _costs(uint256 which, uint256 t, uint256 amount) private view returns (uint256) {
        uint256 full = 2 * (amount * SHARE / 10_000);
        return full < bonds[which][t] ? full : bonds[which][t];
    }

    function _paid(Promise storage p, bool expected, uint256 t, uint256 paid, uint256 amount) private {
        if (!expected) surprise = p.lp == HONEST ? "the honest LP paid" : "the other LP paid for nothing";
        uint256 cost = _costs(p.lp, t, amount);
        if (paid != cost - cost / 2) surprise = "not the share";
        bonds[p.lp][t] -= cost;
        lost[p.lp] += cost;
        forfeits[t] += cost / 2;
        p.claimed = true;
    }
}
