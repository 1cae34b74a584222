// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";

import {IEscrow, IEscrowBase, MandateOutput, OrderStatus, StandardOrder} from "./interfaces/IEscrow.sol";
import {FeeLib} from "./libraries/FeeLib.sol";
import {LedgerLib} from "./libraries/LedgerLib.sol";
import {NonceLib} from "./libraries/NonceLib.sol";
import {OrderLib, Terms} from "./libraries/OrderLib.sol";
import {LimitLib} from "./libraries/LimitLib.sol";
import {SignatureLib} from "./libraries/SignatureLib.sol";
import {StatusLib} from "./libraries/StatusLib.sol";
import {TokenLib} from "./libraries/TokenLib.sol";

/// @title EscrowBase
/// @notice The storage of {Escrow}, and the rules that both {Escrow} and its {EscrowExtension} follow.
abstract contract EscrowBase is IEscrowBase {
    using OrderLib for StandardOrder;
    using OrderLib for MandateOutput;
    using OrderLib for Terms;
    using OrderLib for address;
    using OrderLib for bytes32;
    using LimitLib for uint256;
    using SafeERC20 for IERC20;
    using TokenLib for address;

    uint256 internal constant BPS = 10_000;

    bytes2 internal constant TO_LEDGER = 0x0100;
    bytes2 internal constant TO_LEDGER_DEFERRED = 0x0101;

    /// @dev Bits of a ledger entry below its fees.
    uint256 internal constant FEES = 128;

    uint256 internal constant UNLIMITED = 1;
    uint256 internal constant LIMITED = 2;

    struct Withdrawal {
        uint256 amount;
        uint256 availableAt;
    }

    /* PARAMETERS */

    address public immutable PERMIT2;
    address public immutable feeRecipient;
    uint256 public immutable MAX_FEE_BPS;
    uint256 public immutable WITHDRAWAL_DELAY;
    uint256 public immutable WITHDRAWAL_WINDOW;
    uint256 public immutable MIN_PROOF_WINDOW;

    /* STORAGE */

    /// @dev {LedgerLib} says what an entry holds.
    mapping(address account => mapping(address token => uint256)) internal _ledger;
    mapping(address account => mapping(address token => Withdrawal)) internal _withdrawals;
    /// @dev In the two low bits UNLIMITED, LIMITED, or 0: no operator. Above it, of one that was revoked, when.
    mapping(address account => mapping(address operator => uint256)) internal _operators;
    /// @dev {LimitLib} says what a word holds.
    mapping(address account => mapping(address operator => mapping(address token => uint256))) internal _limits;
    mapping(address user => mapping(uint256 word => uint256)) internal _nonces;
    /// @dev {StatusLib} says what a word holds.
    mapping(bytes32 orderId => uint256) internal _status;
    mapping(bytes32 orderId => mapping(bytes32 outputHash => bytes32)) public fillRecord;
    mapping(bytes32 orderId => mapping(bytes32 outputHash => uint256)) public deferredUntil;
    mapping(address account => mapping(address token => uint256)) public deferredOf;

    /// @dev 0: free. 1: locked. Any other value: the filler of the running settleThrough, who may fill.
    uint256 internal transient _lock;

    constructor(
        address permit2,
        address feeRecipient_,
        uint256 maxFeeBps,
        uint256 withdrawalDelay,
        uint256 withdrawalWindow,
        uint256 minProofWindow
    ) {
        if (feeRecipient_ == address(0) || maxFeeBps > BPS) revert IEscrow.InvalidParameter();
        if (withdrawalDelay == 0 || withdrawalWindow == 0 || minProofWindow == 0) revert IEscrow.InvalidParameter();
        // Sums with a timestamp must not overflow.
        if ((withdrawalDelay | withdrawalWindow | minProofWindow) >> 32 != 0) revert IEscrow.InvalidParameter();
        PERMIT2 = permit2;
        feeRecipient = feeRecipient_;
        MAX_FEE_BPS = maxFeeBps;
        WITHDRAWAL_DELAY = withdrawalDelay;
        WITHDRAWAL_WINDOW = withdrawalWindow;
        MIN_PROOF_WINDOW = minProofWindow;
    }

    modifier locked() {
        _enter();
        _;
        _lock = 0;
    }

    function _enter() internal {
        if (_lock != 0) revert IEscrow.Reentered();
        _lock = 1;
    }

    /* LEDGER */

    function balanceOf(address account, address token) public view returns (uint256) {
        return LedgerLib.balance(_ledger[account][token]);
    }

    /// @param amounts For the balance and, above FEES, the fees beside it. Reverts when the fees no longer fit, until they are
    /// collected. A balance always fits: of every token less than 2^128 base units are assumed to exist.
    function _credit(address account, address token, uint256 amounts) internal {
        _ledger[account][token] += amounts;
    }

    function _debit(address account, address token, uint256 amount) internal {
        mapping(address token => uint256) storage entries = _ledger[account];
        uint256 entry = entries[token];
        uint256 balance = LedgerLib.balance(entry);
        if (balance < amount) revert IEscrow.InsufficientBalance(account, token, balance, amount);
        entries[token] = LedgerLib.minus(entry, amount);
    }

    /// @dev What this contract itself got, nobody could ever spend.
    function _requireRecipient(address account) internal view {
        if (account == address(0) || account == address(this)) revert IEscrow.InvalidRecipient(account);
    }

    function _ledgerAccount(bytes calldata data) internal view returns (bytes2 kind, address account) {
        kind = bytes2(data);
        if (data.length != 22 || (kind != TO_LEDGER && kind != TO_LEDGER_DEFERRED)) {
            revert IEscrow.InvalidRecipient(address(this));
        }
        account = address(bytes20(data[2:]));
        _requireRecipient(account);
    }

    /* OPERATORS AND NONCES */

    function isOperator(address account, address operator) public view returns (bool) {
        return _operators[account][operator] & 3 != 0;
    }

    /// @dev Counts what the operator spends of the account.
    /// @param operator Zero when no limits count: then nothing is counted.
    function _spend(address account, address operator, address token, uint256 amount) internal {
        if (operator == address(0)) return;
        mapping(address token => uint256) storage limits = _limits[account][operator];
        uint256 limit = limits[token].current(block.timestamp);
        uint256 left = limit.left();
        if (amount > left) revert IEscrow.OperatorLimitExceeded(operator, token, left, amount);
        limits[token] = limit.plus(amount);
    }

    function isNonceUsed(address user, uint256 nonce) public view returns (bool) {
        return NonceLib.isUsed(_nonces[user][nonce >> 8], nonce);
    }

    function _useNonce(address user, uint256 nonce) internal {
        mapping(uint256 word => uint256) storage nonces = _nonces[user];
        uint256 word = nonces[nonce >> 8];
        if (NonceLib.isUsed(word, nonce)) revert IEscrow.NonceUsed(user, nonce);
        nonces[nonce >> 8] = NonceLib.used(word, nonce);
    }

    /* ORDER CHECKS */

    function orderStatus(bytes32 orderId) public view returns (OrderStatus) {
        return StatusLib.status(_status[orderId]);
    }

    /// @dev The one place where an order changes status; when it was opened stays.
    function _advance(bytes32 orderId, OrderStatus from, OrderStatus to) internal {
        OrderStatus status = orderStatus(orderId);
        if (status != from) revert IEscrow.InvalidOrderStatus(orderId, status);
        _status[orderId] += StatusLib.step(from, to);
    }

    /// @dev A push that fails becomes a credit. The caller cannot bring that about: a push gets the same gas every time, and a
    /// call with less to give reverts.
    function _refund(StandardOrder calldata order) internal {
        _checkOrigin(order);
        bytes32 orderId = order.id();
        _advance(orderId, OrderStatus.Deposited, OrderStatus.Refunded);
        emit IEscrow.Refunded(orderId);
        for (uint256 j; j < order.inputs.length; ++j) {
            address token = _token(order.inputs[j]);
            uint256 amount = order.inputs[j][1];
            if (!token.push(order.user, amount)) {
                _credit(order.user, token, amount);
                emit IEscrow.Credited(order.user, token, amount);
            }
        }
    }

    /// @dev Only a quote that this contract itself proves, by delivering: what another oracle proves is opened, and what
    /// is opened is never settled. Otherwise whoever sees one of the two could do the other, and void it.
    function _checkSettled(StandardOrder calldata order) internal view returns (Terms[] memory terms) {
        terms = _checkOrder(order, _checkTimes(order, block.timestamp, 0));
        if (terms.length == 0) revert IEscrow.NotAQuote();
        if (order.inputOracle != address(this)) revert IEscrow.WrongOracle(order.inputOracle);
    }

    function _checkOrigin(StandardOrder calldata order) internal view {
        if (order.originChainId != block.chainid) revert IEscrow.WrongChain(order.originChainId, block.chainid);
    }

    /// @param latest The moment that must not be after fillDeadline.
    /// @param window Least seconds between fillDeadline and expires.
    function _checkTimes(StandardOrder calldata order, uint256 latest, uint256 window)
        internal
        pure
        returns (uint256 fillDeadline)
    {
        fillDeadline = order.fillDeadline;
        _checkTime(fillDeadline, latest);
        if (fillDeadline + window > order.expires) {
            revert IEscrow.ProofWindowTooShort(order.expires < fillDeadline ? 0 : order.expires - fillDeadline, window);
        }
    }

    /// @dev Whatever else must hold of an order before its inputs are taken.
    /// @return terms Of the outputs when they are 0xe2, else empty.
    function _checkOrder(StandardOrder calldata order, uint256 fillDeadline)
        internal
        view
        returns (Terms[] memory terms)
    {
        _checkOrigin(order);
        // Refunds go to the user.
        _requireRecipient(order.user);
        _checkInputs(order.inputs);

        MandateOutput[] calldata outputs = order.outputs;
        uint256 n = outputs.length;
        if (n == 0) revert IEscrow.ZeroValue();
        bytes32[] memory hashes = new bytes32[](n);
        bool own = order.inputOracle == address(this);
        uint256 portions;
        for (uint256 i; i < n; ++i) {
            MandateOutput calldata output = outputs[i];
            if (n > 1) {
                bytes32 hash = hashes[i] = output.fillHash();
                for (uint256 k; k < i; ++k) {
                    if (hashes[k] == hash) revert IEscrow.DuplicateOutput(hash);
                }
            }
            // What this contract is to prove, it has to see delivered here.
            if (own && !(_isLocal(output) && output.oracle == address(this).toWord())) revert IEscrow.Unprovable(i);
            bool quote = OrderLib.isQuote(output.context);
            if (quote && i == 0) terms = new Terms[](n);
            if (quote != (terms.length != 0)) revert IEscrow.MixedContexts();
            if (!quote) continue;
            Terms memory t = terms[i] = OrderLib.terms(output.context);
            t.exclusiveFor.toAddress();
            (uint256 startTime, uint256 portionBps, uint256 feeBps) = (t.startTime(), t.portionBps(), t.feeBps());
            if (startTime != fillDeadline + 1) revert IEscrow.WrongStartTime(startTime, fillDeadline);
            if (feeBps > MAX_FEE_BPS || (i != 0 && feeBps != terms[0].feeBps())) revert IEscrow.InvalidFee(feeBps);
            if (portionBps == 0) revert IEscrow.InvalidPortions(0);
            portions += portionBps;
        }
        if (terms.length != 0 && portions != BPS) revert IEscrow.InvalidPortions(portions);
    }

    function _checkInputs(uint256[2][] calldata inputs) internal pure {
        uint256 n = inputs.length;
        if (n == 0) revert IEscrow.ZeroValue();
        for (uint256 j; j < n; ++j) {
            address token = bytes32(inputs[j][0]).toAddress();
            if (inputs[j][1] == 0) revert IEscrow.ZeroValue();
            if (inputs[j][1] >> FEES != 0) revert IEscrow.AmountTooLarge(inputs[j][1]);
            for (uint256 k; k < j; ++k) {
                if (inputs[k][0] == inputs[j][0]) revert IEscrow.DuplicateInput(token);
            }
        }
    }

    /// @dev Divides an input of a 0xe2 order as {IEscrow} says; with `credit`, into the LPs' ledger balances.
    /// @param first Whether it is the first input, which pays the relay fees.
    /// @return fees What all fees come to.
    function _divide(uint256[2] calldata input, bool first, Terms[] memory terms, bool credit)
        internal
        returns (uint256 fees)
    {
        (address token, uint256 amount) = (_token(input), input[1]);
        unchecked {
            uint256 left = amount;
            uint256 last = terms.length - 1;
            for (uint256 i; i <= last; ++i) {
                Terms memory t = terms[i];
                (uint256 slice, uint256 fee) = _slice(amount, left, t, first, i == last);
                left -= slice;
                fees += fee;
                if (credit) _credit(address(uint160(uint256(t.exclusiveFor))), token, LedgerLib.pack(slice - fee, fee));
            }
        }
    }

    /// @dev Amounts are below 2^128, so no product overflows; the slices sum to the amount because the portions sum to BPS.
    function _slice(uint256 amount, uint256 left, Terms memory t, bool first, bool last)
        internal
        pure
        returns (uint256 slice, uint256 fee)
    {
        slice = FeeLib.sliceDown(amount, t.portionBps(), left, last);
        fee = FeeLib.feesDown(slice, t.feeBps(), first, t.relayFee());
    }

    function _checkTime(uint256 deadline, uint256 timestamp) internal pure {
        if (timestamp > deadline) revert IEscrow.DeadlinePassed(deadline, timestamp);
    }

    function _requireLength(uint256 expected, uint256 actual) internal pure {
        if (expected != actual) revert IEscrow.LengthMismatch(expected, actual);
    }

    function _isLocal(MandateOutput calldata output) internal view returns (bool) {
        return output.chainId == block.chainid && output.settler == address(this).toWord();
    }

    /// @dev Checked to have no other bits when the order came in.
    function _token(uint256[2] calldata input) internal pure returns (address) {
        return address(uint160(input[0]));
    }

    /* SIGNATURES */

    /// @dev What everything is signed in: of this contract on this chain.
    function _domain() internal view virtual returns (bytes32);

    function _digest(bytes32 structHash) internal view returns (bytes32) {
        return MessageHashUtils.toTypedDataHash(_domain(), structHash);
    }

    /// @dev By the LP or one of its operators.
    /// @return operator Whose limits count; zero when none do.
    function _requireLp(address lp, bytes32 structHash, bytes calldata signature)
        internal
        view
        returns (address operator)
    {
        bytes32 digest = _digest(structHash);
        bool allowed;
        (allowed, operator) = _acts(lp, _signer(digest, signature));
        _requireSigned(allowed, lp, digest, signature);
    }

    /// @dev By a key that acts for the account, else by the account's own rule.
    function _requireSigned(bool byKey, address account, bytes32 digest, bytes calldata signature) internal view {
        if (!byKey && !SignatureLib.accepts(account, digest, signature)) revert IEscrow.InvalidSignature(account);
    }

    /// @dev Of the digest itself, or of a tree that holds it.
    function _signer(bytes32 digest, bytes calldata signature) internal view returns (address) {
        if (SignatureLib.isOfTree(signature)) {
            (digest, signature) = SignatureLib.climb(digest, signature);
            digest = _digest(OrderLib.treeHash(digest));
        }
        return SignatureLib.recover(digest, signature);
    }

    /// @return allowed Whether `key` acts for the account.
    /// @return operator The key when its limits count, else zero.
    function _acts(address account, address key) internal view returns (bool allowed, address operator) {
        if (key == address(0)) return (false, key);
        if (key == account) return (true, address(0));
        uint256 kind = _operators[account][key] & 3;
        return (kind != 0, kind == LIMITED ? key : address(0));
    }
}
