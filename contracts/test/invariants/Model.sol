// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevToken} from "../../src/devnet/DevToken.sol";
import {Commitment, IEscrow, MandateOutput, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {Filler} from "../mocks/Filler.sol";
import {Base} from "../support/Base.sol";

/// @notice What should be true of the escrows, kept apart from them: balances, requests, operators, orders. Each step says
/// beforehand how it ends; afterwards every balance is compared. Arithmetic of fees and slices is done here once more.
abstract contract Model is Base {
    uint256 internal constant TAKER_2 = 0x7a6f;

    uint256 internal constant FEES = 5;
    uint256 internal constant STRANGE = 6;
    uint256 internal constant RECIPIENT = 7;
    uint256 internal constant FILLER = 8;
    /// @dev Who deposits and withdraws: takers, LPs, the fee recipient and a stranger.
    uint256 internal constant ACTORS = 7;
    uint256 internal constant ACCOUNTS = 9;

    uint256 internal constant QUOTE = 0;
    uint256 internal constant CROSS_QUOTE = 1;
    uint256 internal constant PLAIN = 2;
    uint256 internal constant CROSS_PLAIN = 3;
    uint256 internal constant FILLER_QUOTE = 4;

    uint256 internal constant SELF = 0;
    uint256 internal constant WITNESS = 1;
    uint256 internal constant ORDER_3009 = 2;
    uint256 internal constant GRANT = 3;
    uint256 internal constant INLINE = 4;
    uint256 internal constant INLINE_3009 = 5;
    uint256 internal constant LEDGER = 6;
    uint256 internal constant SPONSOR_PERMIT = 7;
    uint256 internal constant SPONSOR_3009 = 8;

    uint256 internal constant NONE = 0;
    uint256 internal constant DEPOSITED = 1;
    uint256 internal constant CLAIMED = 2;
    uint256 internal constant REFUNDED = 3;

    struct Request {
        uint256 amount;
        uint256 from;
    }

    struct Tracked {
        bytes encoded;
        bytes32 id;
        uint256 kind;
        uint256 status;
        /// @dev As last read from the escrow.
        uint256 seen;
        bool byUser;
        bool settled;
        uint32[3] filledAt;
        address[3] solver;
        bool[3] proven;
        uint256[2] paidIn;
        uint256[2] paidOut;
        /// @dev From when on an output may be pushed out of the ledger; zero when none waits.
        uint256[3] deferredUntil;
    }

    /// @param peak The largest limit that was in force while the window runs.
    struct Allowance {
        uint256 most;
        uint256 window;
        uint256 since;
        uint256 spent;
        uint256 peak;
    }

    uint256 public clock;
    Tracked[] internal tracked;
    mapping(address place => mapping(uint256 account => mapping(uint256 t => uint256))) internal ledgerOf;
    mapping(uint256 account => mapping(uint256 t => uint256)) internal walletOf;
    mapping(address place => mapping(uint256 account => mapping(uint256 t => Request))) internal requested;
    mapping(address place => mapping(uint256 i => bool)) internal operates;
    /// @dev Whether an LP's operator has limits, and what they are.
    mapping(address place => mapping(uint256 i => bool)) internal limited;
    mapping(address place => mapping(uint256 i => mapping(uint256 t => Allowance))) internal allowances;
    /// @dev Fees on an LP's inputs that nobody has collected; at the escrow alone, since inputs are.
    mapping(uint256 account => mapping(uint256 t => uint256)) public feesDue;
    mapping(address place => mapping(uint256 t => uint256)) internal donated;
    mapping(address place => mapping(uint256 account => mapping(uint256 t => uint256))) public deferredSum;

    /* GHOSTS */

    /// @dev What LPs have given away by what they signed or called, and what left their entries in the ledgers.
    mapping(uint256 account => mapping(uint256 t => uint256)) public promised;
    mapping(uint256 account => mapping(uint256 t => uint256)) public spent;
    uint256[2] public deliveredSum;
    /// @dev Steps that would have spent more than an operator's limit.
    uint256 public pastLimits;
    /// @dev Steps that were made and steps that had to fail and did.
    mapping(string => uint256) public done;
    mapping(string => uint256) public refusals;
    /// @dev What went wrong, the first of each kind.
    string public surprise;
    string public ledgerFell;
    string public walletFell;
    string public rose;
    string public illegalEdge;

    string internal current;

    function setUp() public virtual override {
        super.setUp();
        clock = START;
        Filler filler = new Filler(escrow);
        _actors = [
            taker,
            vm.addr(TAKER_2),
            lp(0),
            lp(1),
            lp(2),
            feeRecipient,
            stranger,
            recipient,
            address(filler)
        ];
        weth.mint(vm.addr(TAKER_2), 1);
        for (uint256 a; a < ACCOUNTS; ++a) {
            if (a == RECIPIENT) continue;
            vm.startPrank(actor(a));
            for (uint256 t; t < 2; ++t) {
                DevToken(token(t)).approve(address(permit2), type(uint256).max);
                DevToken(token(t)).approve(address(escrow), type(uint256).max);
                DevToken(token(t)).approve(address(remote), type(uint256).max);
                permit2.approve(token(t), address(escrow), type(uint160).max, type(uint48).max);
            }
            vm.stopPrank();
        }
        for (uint256 i; i < 3; ++i) {
            operates[address(escrow)][i] = operates[address(remote)][i] = true;
            vm.startPrank(operator(i));
            for (uint256 t; t < 2; ++t) {
                DevToken(token(t)).approve(address(escrow), type(uint256).max);
                DevToken(token(t)).approve(address(remote), type(uint256).max);
            }
            vm.stopPrank();
        }
        for (uint256 a; a < ACCOUNTS; ++a) {
            for (uint256 t; t < 2; ++t) {
                walletOf[a][t] = DevToken(token(t)).balanceOf(actor(a));
                ledgerOf[address(escrow)][a][t] = escrow.balanceOf(actor(a), token(t));
                ledgerOf[address(remote)][a][t] = remote.balanceOf(actor(a), token(t));
            }
        }
        _recipientHad = [walletOf[RECIPIENT][0], walletOf[RECIPIENT][1]];
    }

    uint256[2] private _recipientHad;

    /// @dev Around every step: the clock, then the comparison.
    modifier step() {
        vm.warp(clock);
        vm.chainId(HERE);
        _;
        vm.chainId(HERE);
        _compare();
    }

    function _isRemote(IEscrow place) internal view returns (bool) {
        return address(place) == address(remote);
    }

    /* READING, for the invariants */

    function count() external view returns (uint256) {
        return tracked.length;
    }

    function orderAt(uint256 n) external view returns (StandardOrder memory, Tracked memory) {
        return (_orderOf(n), tracked[n]);
    }

    function places() public view returns (IEscrow[2] memory) {
        return [escrow, remote];
    }

    function oracleOf() external view returns (address) {
        return address(oracle);
    }

    function recipientGot(uint256 t) external view returns (uint256) {
        return DevToken(token(t)).balanceOf(recipient) - _recipientHad[t];
    }

    /// @dev Ledger entries, inputs of open orders and donations; what the escrow should hold.
    function owed(IEscrow place, uint256 t) public view returns (uint256 sum) {
        for (uint256 a; a < ACCOUNTS; ++a) {
            sum += place.balanceOf(actor(a), token(t)) + place.feesOf(actor(a), token(t));
        }
        sum += openInputs(place, t) + donated[address(place)][t];
    }

    function openInputs(IEscrow place, uint256 t) public view returns (uint256 sum) {
        for (uint256 n; n < tracked.length; ++n) {
            if (uint256(place.orderStatus(tracked[n].id)) == DEPOSITED) {
                sum += tracked[n].paidIn[t];
            }
        }
    }

    function payloadHashAt(uint256 n, uint256 i) external view returns (bytes32) {
        return _payloadHash(n, i, _orderOf(n));
    }

    /* ACTORS */

    /// @dev Kept, since every look at a key costs a multiplication on the curve.
    address[ACCOUNTS] private _actors;

    function actor(uint256 a) public view returns (address) {
        return _actors[a];
    }

    function _index(address account) internal view returns (uint256 a) {
        while (a < ACCOUNTS && _actors[a] != account) ++a;
    }

    function token(uint256 t) public view returns (address) {
        return t == 0 ? address(usd) : address(weth);
    }

    function unit(uint256 t) internal pure returns (uint256) {
        return t == 0 ? 1e6 : 1e15;
    }

    function _tokenIndex(bytes32 which) internal view returns (uint256) {
        return which == word(address(usd)) ? 0 : 1;
    }

    function _keyOf(address account) internal view returns (uint256) {
        uint256 a = _index(account);
        if (a == 0) return TAKER;
        if (a == 1) return TAKER_2;
        if (a < FEES) return LP + 16 * (a - 2);
        return STRANGER;
    }

    function _userKey(StandardOrder memory order) internal view returns (uint256) {
        return _keyOf(order.user);
    }

    function _anyone(uint256 seed) internal view returns (address) {
        uint256 k = _draw(seed, 77) % 5;
        return k == 0 ? taker : k == 1 ? actor(3) : k == 2 ? operator(0) : stranger;
    }

    /* CHANCE */

    function _draw(uint256 seed, uint256 what) internal pure returns (uint256) {
        return uint256(keccak256(abi.encode(seed, what)));
    }

    function _pick(uint256 seed, uint256 what, uint256 n) internal pure returns (uint256) {
        return _draw(seed, what) % n;
    }

    function _place(uint256 seed) internal view returns (IEscrow) {
        return _draw(seed, 99) % 2 == 0 ? escrow : remote;
    }

    function _mode(uint256 seed, uint256 n) internal pure returns (uint256) {
        return _draw(seed, 98) % n;
    }

    /// @dev Mostly an order that is still open, so that lives are lived to their end; else any.
    function _recent(uint256 seed) internal view returns (uint256) {
        uint256 n = tracked.length;
        uint256 k = _draw(seed, 97);
        if (k % 4 == 0) return k % n;
        uint256 skip = (k >> 8) % 3;
        for (uint256 back = 1; back <= n && back <= 16; ++back) {
            if (tracked[n - back].status != DEPOSITED) continue;
            if (skip == 0) return n - back;
            --skip;
        }
        return k % n;
    }

    function _recentQuote(uint256 seed) internal view returns (uint256 n, bool found) {
        if (tracked.length == 0) return (0, false);
        n = _recent(seed);
        bytes memory context = _orderOf(n).outputs[0].context;
        return (n, context.length != 0 && _lpOf(_orderOf(n).outputs[0]) != FILLER);
    }

    function _someRequest(IEscrow place, uint256 who, uint256 t) internal view returns (IEscrow, uint256, uint256) {
        for (uint256 a; a < ACTORS; ++a) {
            for (uint256 k; k < 2; ++k) {
                if (requested[address(place)][a][k].amount != 0) return (place, a, k);
            }
        }
        return (place, who, t);
    }

    /* EXPECTATIONS */

    function _mintTo(address to, uint256 t, uint256 amount) internal {
        DevToken(token(t)).mint(to, amount);
    }

    function _mint(uint256 a, uint256 t, uint256 amount) internal {
        _mintTo(actor(a), t, amount);
        walletOf[a][t] += amount;
    }

    function _wallet(uint256 a, uint256 t, int256 delta) internal {
        walletOf[a][t] = uint256(int256(walletOf[a][t]) + delta);
    }

    function _ledger(IEscrow place, uint256 a, uint256 t, int256 delta) internal {
        ledgerOf[address(place)][a][t] = uint256(int256(ledgerOf[address(place)][a][t]) + delta);
        if (delta < 0) promised[a][t] += uint256(-delta);
    }

    /// @dev Makes the call and notes whether it ended as foretold.
    function _try(string memory name, address caller, IEscrow place, bytes memory data, bool expected)
        internal
        returns (bool success)
    {
        current = name;
        if (_isRemote(place)) vm.chainId(THERE);
        vm.prank(caller);
        bytes memory answer;
        (success, answer) = address(place).call(data);
        vm.chainId(HERE);
        if (success) ++done[name];
        else ++refusals[name];
        if (success != expected && bytes(surprise).length == 0) {
            surprise = string(
                abi.encodePacked(name, success ? " succeeded" : " failed: ", _hex(bytes4(answer)))
            );
        }
    }

    function _hex(bytes4 selector) private pure returns (string memory) {
        bytes memory text = new bytes(8);
        for (uint256 i; i < 8; ++i) {
            text[i] = bytes("0123456789abcdef")[uint32(selector) >> (28 - 4 * i) & 15];
        }
        return string(text);
    }

    function _compare() private {
        for (uint256 a; a < ACCOUNTS; ++a) {
            address account = actor(a);
            for (uint256 t; t < 2; ++t) {
                address asset = token(t);
                uint256 actual = DevToken(asset).balanceOf(account);
                if (actual < walletOf[a][t]) walletFell = _note(walletFell);
                if (actual > walletOf[a][t]) rose = _note(rose);
                walletOf[a][t] = actual;
                _compareLedger(escrow, a, t, account, asset);
                _compareLedger(remote, a, t, account, asset);
            }
        }
        for (uint256 n; n < tracked.length; ++n) {
            uint256 to = uint256(escrow.orderStatus(tracked[n].id));
            uint256 from = tracked[n].seen;
            if (to == from) continue;
            bool legal = (from == NONE && (to == DEPOSITED || to == CLAIMED))
                || (from == DEPOSITED && (to == CLAIMED || to == REFUNDED));
            if (!legal || to != tracked[n].status) illegalEdge = _note(illegalEdge);
            tracked[n].seen = to;
        }
    }

    mapping(address => mapping(uint256 => mapping(uint256 => uint256))) private _before;

    function _compareLedger(IEscrow place, uint256 a, uint256 t, address account, address asset) private {
        uint256 actual = place.balanceOf(account, asset);
        uint256 expected = ledgerOf[address(place)][a][t];
        if (actual < expected) ledgerFell = _note(ledgerFell);
        if (actual > expected) rose = _note(rose);
        uint256 before = _before[address(place)][a][t];
        if (actual < before) spent[a][t] += before - actual;
        _before[address(place)][a][t] = actual;
        ledgerOf[address(place)][a][t] = actual;
    }

    function _note(string memory text) private view returns (string memory) {
        return bytes(text).length == 0 ? current : text;
    }

    /* ORDERS */

    function _build(uint256 seed, uint256 kind) internal returns (StandardOrder memory order) {
        uint256 n = _draw(seed, 10) % 2 == 0 ? 1 : 1 + _draw(seed, 17) % 3;
        order = blank(0, n);
        order.user = actor(_draw(seed, 11) % 2);
        order.fillDeadline = uint32(clock + 30 + _draw(seed, 12) % 1800);
        order.expires = uint32(order.fillDeadline + PROOF + _draw(seed, 13) % 600);
        bool across = kind == CROSS_QUOTE || kind == CROSS_PLAIN;
        if (across) order.inputOracle = address(oracle);
        uint256 mode = _draw(seed, 98);
        // ERC-3009 needs usd alone; other modes sometimes bring both tokens.
        bool two = _draw(seed, 14) % 3 == 0 && !_needs3009(mode % 7) && !_needs3009(mode % 9);
        order.inputs = new uint256[2][](two ? 2 : 1);
        order.inputs[0] = [uint256(uint160(address(usd))), bound(_draw(seed, 15), 1e6, 5_000e6)];
        if (two) order.inputs[1] = [uint256(uint160(address(weth))), bound(_draw(seed, 16), 1, 2e18)];
        uint16 left = 10_000;
        for (uint256 i; i < n; ++i) {
            uint16 portion = i == n - 1 ? left : uint16(1000 + _draw(seed, 20 + i) % 3000);
            left -= portion;
            order.outputs[i] = _output(seed, i, kind, order.fillDeadline, portion);
            if (across) {
                order.outputs[i].oracle = word(address(oracle));
                order.outputs[i].settler = word(address(remote));
                order.outputs[i].chainId = THERE;
            }
            if (_draw(seed, 110 + i) % 3 != 0) continue;
            order.outputs[i].recipient = order.outputs[i].settler;
            order.outputs[i].callbackData = ledgerData(_draw(seed, 120 + i) % 3 != 0, actor(_pick(seed, 130 + i, ACTORS)));
        }
    }

    function _output(uint256 seed, uint256 i, uint256 kind, uint32 fillDeadline, uint16 portion)
        private
        view
        returns (MandateOutput memory o)
    {
        address who = kind == FILLER_QUOTE ? actor(FILLER) : actor(2 + _draw(seed, 30 + i) % 3);
        bytes memory context = kind == PLAIN || kind == CROSS_PLAIN
            ? bytes("")
            : quoteContext(who, fillDeadline, portion, FEE, i == 0 ? uint128(_draw(seed, 40) % 50_000) : 0);
        // Sometimes more than an LP is likely to have; never two equal outputs.
        uint256 amount = bound(_draw(seed, 50 + i), 1, _draw(seed, 60) % 6 == 0 ? 800e18 : 5e18);
        o = output(escrow, HERE, amount - amount % 8 + i, context);
        if (o.amount == 0) o.amount = 8;
        if (_draw(seed, 70 + i) % 4 == 0) {
            o.token = word(address(usd));
            o.amount = o.amount / 1e12 + 8 + i;
        }
    }

    function _needs3009(uint256 mode) private pure returns (bool) {
        return mode == ORDER_3009 || mode == INLINE_3009 || mode == SPONSOR_3009;
    }

    function _orderOf(uint256 n) internal view returns (StandardOrder memory) {
        return abi.decode(tracked[n].encoded, (StandardOrder));
    }

    function _track(StandardOrder memory order, uint256 kind, uint256 status) internal returns (uint256 n) {
        n = tracked.length;
        tracked.push();
        Tracked storage entry = tracked[n];
        entry.encoded = abi.encode(order);
        entry.id = idOf(order);
        entry.kind = kind;
        entry.status = status;
    }

    function _lpOf(MandateOutput memory o) internal view returns (uint256) {
        return _index(address(uint160(uint256(hashes.terms(o.context).exclusiveFor))));
    }

    function _settlerOf(MandateOutput memory o) internal view returns (IEscrow) {
        return o.chainId == HERE ? escrow : remote;
    }

    function _payloadHash(uint256 n, uint256 i, StandardOrder memory order) internal view returns (bytes32) {
        return hashes.payloadHash(
            word(tracked[n].solver[i]), tracked[n].id, tracked[n].filledAt[i], order.outputs[i]
        );
    }

    /// @dev Whether the output's chain would still take a fill.
    function _fillable(uint256 n, MandateOutput memory o) internal view returns (bool) {
        return o.chainId == THERE || tracked[n].status == DEPOSITED;
    }

    function _claimable(uint256 n, StandardOrder memory order) internal view returns (bool fine) {
        fine = tracked[n].status == DEPOSITED;
        for (uint256 i; i < order.outputs.length; ++i) {
            fine = fine && tracked[n].filledAt[i] != 0 && (order.outputs[i].chainId == HERE || tracked[n].proven[i]);
        }
    }

    /// @dev Whether each LP has what its outputs need when they come to be paid: an output before may have been for it.
    function _covered(IEscrow place, StandardOrder memory order) internal view returns (bool) {
        uint256[2][ACCOUNTS] memory gave;
        uint256[2][ACCOUNTS] memory got;
        for (uint256 i; i < order.outputs.length; ++i) {
            uint256 a = _lpOf(order.outputs[i]);
            if (a == FILLER) return false;
            uint256 t = _tokenIndex(order.outputs[i].token);
            gave[a][t] += order.outputs[i].amount;
            if (gave[a][t] > ledgerOf[address(place)][a][t] + got[a][t]) return false;
            if (_isLedger(order.outputs[i])) got[_accountOf(order.outputs[i])][t] += order.outputs[i].amount;
        }
        return true;
    }

    function _isLedger(MandateOutput memory o) internal pure returns (bool) {
        return o.recipient == o.settler;
    }

    /// @dev The account of a ledger delivery, and whether it is deferred.
    function _accountOf(MandateOutput memory o) internal view returns (uint256) {
        bytes memory data = o.callbackData;
        uint256 account;
        for (uint256 k = 2; k < 22; ++k) {
            account = account << 8 | uint8(data[k]);
        }
        return _index(address(uint160(account)));
    }

    /// @dev The latest delivery that waits, or any output when none does.
    function _someDeferral(uint256 seed) internal view returns (uint256 n, uint256 i) {
        uint256 skip = _draw(seed, 5) % 3;
        for (uint256 back = 1; back <= tracked.length && back <= 24; ++back) {
            n = tracked.length - back;
            for (i = 0; i < 3; ++i) {
                if (tracked[n].deferredUntil[i] == 0) continue;
                if (skip == 0) return (n, i);
                --skip;
            }
        }
        n = _recent(seed);
        i = _draw(seed, 6) % _orderOf(n).outputs.length;
    }

    /// @dev Who fills output `o` this time, in whose name, and whether a ledger entry pays.
    function _fillerOf(MandateOutput memory o, IEscrow place, uint256 how)
        internal
        view
        returns (address caller, address solver, bool ledger)
    {
        uint256 a = o.context.length == 0 ? 2 + o.amount % 3 : _lpOf(o);
        solver = actor(a);
        if (how == 3) {
            return (stranger, stranger, ledgerOf[address(place)][STRANGE][_tokenIndex(o.token)] >= o.amount);
        }
        if (how == 2 || a == FILLER) return (stranger, solver, false);
        uint256 i = a - 2;
        caller = how == 0 ? actor(a) : operator(i);
        ledger = (how == 0 || operates[address(place)][i])
            && ledgerOf[address(place)][a][_tokenIndex(o.token)] >= o.amount;
    }

    /// @dev One of the two keys that may sign for an LP, and whether it still may.
    function _signerOf(IEscrow place, uint256 a, uint256 chance) internal view returns (uint256 key, bool allowed) {
        if (a == FILLER) return (STRANGER, false);
        if (chance % 2 == 0) return (LP + 16 * (a - 2), true);
        return (OPERATOR + 16 * (a - 2), operates[address(place)][a - 2]);
    }

    /// @dev Per operator and token, what an order takes of the limits of those who sign for it as `_signerOf` chooses them.
    function _spendings(StandardOrder memory order, uint256 seed, uint256 draws, bool inputs)
        internal
        view
        returns (uint256[2][3] memory sums)
    {
        for (uint256 i; i < order.outputs.length; ++i) {
            uint256 a = _lpOf(order.outputs[i]);
            if (a == FILLER || _draw(seed, draws + i) % 2 == 0) continue;
            if (!inputs) sums[a - 2][_tokenIndex(order.outputs[i].token)] += order.outputs[i].amount;
            for (uint256 j; inputs && j < order.inputs.length; ++j) {
                sums[a - 2][_tokenIndex(bytes32(order.inputs[j][0]))] += order.inputs[j][1];
            }
        }
    }

    function _within(IEscrow place, uint256[2][3] memory sums) internal returns (bool) {
        for (uint256 i; i < 3; ++i) {
            for (uint256 t; t < 2; ++t) {
                Allowance memory l = allowances[address(place)][i][t];
                uint256 before = clock >= l.since + l.window ? 0 : l.spent;
                if (!limited[address(place)][i] || sums[i][t] == 0 || before + sums[i][t] <= l.most) continue;
                ++pastLimits;
                return false;
            }
        }
        return true;
    }

    function _count(IEscrow place, uint256[2][3] memory sums) internal {
        for (uint256 i; i < 3; ++i) {
            for (uint256 t; t < 2; ++t) {
                if (!limited[address(place)][i] || sums[i][t] == 0) continue;
                Allowance storage l = allowances[address(place)][i][t];
                if (clock >= l.since + l.window) (l.since, l.spent, l.peak) = (clock, 0, l.most);
                l.spent += sums[i][t];
            }
        }
    }

    function _commit(StandardOrder memory order, uint256 seed)
        internal
        view
        returns (Commitment[] memory list, bool signed)
    {
        list = commitments(order);
        bytes32 id = idOf(order);
        signed = true;
        for (uint256 i; i < list.length; ++i) {
            (uint256 key, bool allowed) = _signerOf(escrow, _lpOf(order.outputs[i]), _draw(seed, 80 + i));
            list[i].signature = sign(key, commitmentDigest(id, list[i]));
            signed = signed && allowed;
        }
    }

    /* FUNDING */

    /// @dev Gives the payer what the mode takes, and signs with `key` whatever is to be signed.
    function _fund(StandardOrder memory order, uint256 mode, uint256 key) internal returns (bytes memory funding) {
        uint256 payer = mode >= SPONSOR_PERMIT ? STRANGE : _index(order.user);
        for (uint256 j; j < order.inputs.length; ++j) {
            uint256 t = _tokenIndex(bytes32(order.inputs[j][0]));
            uint256 amount = order.inputs[j][1];
            if (mode != LEDGER) {
                _mint(payer, t, amount);
            } else if (ledgerOf[address(escrow)][payer][t] < amount) {
                _mintTo(address(this), t, amount);
                DevToken(token(t)).approve(address(escrow), amount);
                escrow.depositFor(order.user, token(t), amount);
                ledgerOf[address(escrow)][payer][t] += amount;
            }
        }
        if (mode == SELF) return "";
        if (mode == WITNESS || mode == SPONSOR_PERMIT) return byWitness(order, key);
        if (mode == ORDER_3009 || mode == SPONSOR_3009) return byOrder3009(order, key);
        bytes memory signature = sign(key, orderDigest(order));
        if (mode == GRANT) return abi.encodePacked(bytes1(0x10), abi.encode(signature));
        if (mode == LEDGER) return abi.encodePacked(bytes1(0x13), abi.encode(signature));
        if (mode == INLINE) {
            uint256 until = clock + 1;
            return abi.encodePacked(
                bytes1(0x11), abi.encode(signature, until, permitSignature(order, until, key))
            );
        }
        bytes32 nonce = keccak256(abi.encode(order.nonce, "3009"));
        bytes memory auth =
            sign(key, receiveDigest(address(escrow), order.user, order.inputs[0][1], 0, clock + 1, nonce));
        return abi.encodePacked(bytes1(0x12), abi.encode(signature, 0, clock + 1, nonce, auth));
    }

    /* MOVES */

    function _paidIn(uint256 n, StandardOrder memory order, uint256 payer, uint256 mode) internal {
        tracked[n].byUser = payer == _index(order.user);
        for (uint256 j; j < order.inputs.length; ++j) {
            uint256 t = _tokenIndex(bytes32(order.inputs[j][0]));
            tracked[n].paidIn[t] += order.inputs[j][1];
            if (mode == LEDGER) _ledger(escrow, payer, t, -int256(order.inputs[j][1]));
            else _wallet(payer, t, -int256(order.inputs[j][1]));
        }
    }

    function _delivered(uint256 n, uint256 i, StandardOrder memory order, IEscrow place, uint256 solver, bool ledger)
        internal
    {
        MandateOutput memory o = order.outputs[i];
        uint256 t = _tokenIndex(o.token);
        tracked[n].filledAt[i] = uint32(clock);
        tracked[n].solver[i] = actor(solver);
        if (ledger) _ledger(place, solver, t, -int256(o.amount));
        if (!_isLedger(o)) {
            deliveredSum[t] += o.amount;
            _wallet(RECIPIENT, t, int256(o.amount));
            return;
        }
        uint256 a = _accountOf(o);
        _ledger(place, a, t, int256(o.amount));
        if (o.callbackData[1] == 0x00) return;
        tracked[n].deferredUntil[i] = clock + DELAY;
        deferredSum[address(place)][a][t] += o.amount;
    }

    function _payInputs(uint256 n, StandardOrder memory order, uint256 to) internal {
        for (uint256 j; j < order.inputs.length; ++j) {
            uint256 t = _tokenIndex(bytes32(order.inputs[j][0]));
            _wallet(to, t, int256(order.inputs[j][1]));
            tracked[n].paidOut[t] += order.inputs[j][1];
        }
    }

    function _creditLps(uint256 n, StandardOrder memory order) internal {
        for (uint256 j; j < order.inputs.length; ++j) {
            uint256 t = _tokenIndex(bytes32(order.inputs[j][0]));
            uint256 given;
            for (uint256 i; i < order.outputs.length; ++i) {
                (uint256 slice, uint256 fee) = _slice(order, j, i);
                uint256 a = _lpOf(order.outputs[i]);
                _ledger(escrow, a, t, int256(slice - fee));
                feesDue[a][t] += fee;
                given += slice;
            }
            tracked[n].paidOut[t] += given;
        }
    }

    function _fees(StandardOrder memory order, uint256 j) internal pure returns (uint256 sum) {
        for (uint256 i; i < order.outputs.length; ++i) {
            (, uint256 fee) = _slice(order, j, i);
            sum += fee;
        }
    }

    /// @dev Slice `i` of input `j` and its fees, from the manual's words.
    function _slice(StandardOrder memory order, uint256 j, uint256 i)
        private
        pure
        returns (uint256 slice, uint256 fee)
    {
        uint256 amount = order.inputs[j][1];
        uint256 rest = amount;
        uint256 n = order.outputs.length;
        for (uint256 k; k < n; ++k) {
            (uint256 portion, uint256 relay) = _terms(order.outputs[k].context);
            slice = k == n - 1 ? rest : amount * portion / 10_000;
            rest -= slice;
            if (k == i) return (slice, slice * FEE / 10_000 + (j == 0 ? relay : 0));
        }
    }

    function _terms(bytes memory context) private pure returns (uint256 portion, uint256 relay) {
        portion = uint256(uint8(context[37])) << 8 | uint8(context[38]);
        for (uint256 k = 41; k < 57; ++k) {
            relay = relay << 8 | uint8(context[k]);
        }
    }
}
