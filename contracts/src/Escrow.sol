// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC5267} from "@openzeppelin/contracts/interfaces/IERC5267.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";

import {IFiller, IInputCallback, IOutputCallback} from "./interfaces/ICallbacks.sol";
import {IERC3009} from "./interfaces/IERC3009.sol";
import {
    Approval,
    Commitment,
    IEscrow,
    MandateOutput,
    OrderStatus,
    SolveParams,
    StandardOrder
} from "./interfaces/IEscrow.sol";
import {IInputOracle} from "./interfaces/IInputOracle.sol";
import {IPermit2} from "./interfaces/IPermit2.sol";
import {FeeLib} from "./libraries/FeeLib.sol";
import {LedgerLib} from "./libraries/LedgerLib.sol";
import {LimitLib} from "./libraries/LimitLib.sol";
import {NonceLib} from "./libraries/NonceLib.sol";
import {OrderLib, Terms} from "./libraries/OrderLib.sol";
import {SignatureLib} from "./libraries/SignatureLib.sol";
import {StatusLib} from "./libraries/StatusLib.sol";
import {TokenLib} from "./libraries/TokenLib.sol";

/// @title Escrow
/// @notice See {IEscrow}, which is the manual. Unaudited.
/// @dev Every function that moves balances sets its status first and holds one transient lock for its whole run. Status
/// alone would do for orders, but amounts received are measured as a difference of balances, and a token that calls back
/// into a second deposit while the first is being measured would be credited twice.
contract Escrow is IEscrow, IERC5267 {
    using OrderLib for StandardOrder;
    using OrderLib for MandateOutput;
    using OrderLib for Terms;
    using OrderLib for address;
    using OrderLib for bytes32;
    using LimitLib for uint256;
    using SafeERC20 for IERC20;
    using TokenLib for address;

    uint256 private constant BPS = 10_000;

    bytes1 private constant FUND_PERMIT2_WITNESS = 0x00;
    bytes1 private constant FUND_ERC3009_ORDER = 0x01;
    bytes1 private constant FUND_PERMIT2_GRANT = 0x10;
    bytes1 private constant FUND_PERMIT2_INLINE = 0x11;
    bytes1 private constant FUND_ERC3009_INLINE = 0x12;
    bytes1 private constant FUND_LEDGER = 0x13;
    bytes1 private constant FUND_SELF = 0xff;

    bytes2 private constant TO_LEDGER = 0x0100;
    bytes2 private constant TO_LEDGER_DEFERRED = 0x0101;

    /// @dev Bits of a ledger entry below its fees.
    uint256 private constant FEES = 128;

    uint256 private constant UNLIMITED = 1;
    uint256 private constant LIMITED = 2;

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

    uint256 private immutable _deploymentChainId;
    bytes32 private immutable _deploymentDomain;

    /* STORAGE */

    /// @dev {LedgerLib} says what an entry holds.
    mapping(address account => mapping(address token => uint256)) private _ledger;
    mapping(address account => mapping(address token => Withdrawal)) private _withdrawals;
    /// @dev In the two low bits UNLIMITED, LIMITED, or 0: no operator. Above it, of one that was revoked, when.
    mapping(address account => mapping(address operator => uint256)) private _operators;
    /// @dev {LimitLib} says what a word holds.
    mapping(address account => mapping(address operator => mapping(address token => uint256))) private _limits;
    mapping(address user => mapping(uint256 word => uint256)) private _nonces;
    /// @dev {StatusLib} says what a word holds.
    mapping(bytes32 orderId => uint256) private _status;
    mapping(bytes32 orderId => mapping(bytes32 outputHash => bytes32)) public fillRecord;
    mapping(bytes32 orderId => mapping(bytes32 outputHash => uint256)) public deferredUntil;
    mapping(address account => mapping(address token => uint256)) public deferredOf;

    /// @dev 0: free. 1: locked. Any other value: the filler of the running settleThrough, who may fill.
    uint256 private transient _lock;

    constructor(
        address permit2,
        address feeRecipient_,
        uint256 maxFeeBps,
        uint256 withdrawalDelay,
        uint256 withdrawalWindow,
        uint256 minProofWindow
    ) {
        if (feeRecipient_ == address(0) || maxFeeBps > BPS) revert InvalidParameter();
        if (withdrawalDelay == 0 || withdrawalWindow == 0 || minProofWindow == 0) revert InvalidParameter();
        // Sums with a timestamp must not overflow.
        if ((withdrawalDelay | withdrawalWindow | minProofWindow) >> 32 != 0) revert InvalidParameter();
        PERMIT2 = permit2;
        feeRecipient = feeRecipient_;
        MAX_FEE_BPS = maxFeeBps;
        WITHDRAWAL_DELAY = withdrawalDelay;
        WITHDRAWAL_WINDOW = withdrawalWindow;
        MIN_PROOF_WINDOW = minProofWindow;
        _deploymentChainId = block.chainid;
        _deploymentDomain = OrderLib.domainSeparator();
    }

    modifier locked() {
        _enter();
        _;
        _lock = 0;
    }

    function _enter() private {
        if (_lock != 0) revert Reentered();
        _lock = 1;
    }

    /// @dev As `locked`, but open to the filler that settleThrough is waiting for.
    modifier lockedForFill() {
        uint256 lock = _enterForFill();
        _;
        _lock = lock;
    }

    function _enterForFill() private returns (uint256 lock) {
        lock = _lock;
        if (lock != 0 && lock != uint160(msg.sender)) revert Reentered();
        _lock = 1;
    }

    /* LEDGER */

    function deposit(address token, uint256 amount) external returns (uint256) {
        return depositFor(msg.sender, token, amount);
    }

    function depositFor(address account, address token, uint256 amount) public locked returns (uint256 received) {
        _requireRecipient(account);
        uint256 before = token.holding(address(this));
        IERC20(token).safeTransferFrom(msg.sender, address(this), amount);
        received = token.holding(address(this)) - before;
        if (received == 0) revert ZeroValue();
        _credit(account, token, received);
        emit Deposited(account, token, msg.sender, received);
    }

    /// @dev What this contract itself got, nobody could ever spend.
    function _requireRecipient(address account) private view {
        if (account == address(0) || account == address(this)) revert InvalidRecipient(account);
    }

    function requestWithdrawal(address token, uint256 amount) external locked {
        uint256 balance = balanceOf(msg.sender, token);
        if (amount > balance) revert InsufficientBalance(msg.sender, token, balance, amount);
        uint256 availableAt = amount == 0 ? 0 : block.timestamp + WITHDRAWAL_DELAY;
        _withdrawals[msg.sender][token] = Withdrawal(amount, availableAt);
        emit WithdrawalRequested(
            msg.sender, token, amount, availableAt, amount == 0 ? 0 : availableAt + WITHDRAWAL_WINDOW
        );
    }

    function withdraw(address token, address to) external locked returns (uint256 amount) {
        _requireRecipient(to);
        Withdrawal memory request = _withdrawals[msg.sender][token];
        delete _withdrawals[msg.sender][token];
        if (request.amount == 0 || block.timestamp > request.availableAt + WITHDRAWAL_WINDOW) {
            revert NoWithdrawal(msg.sender, token);
        }
        if (block.timestamp < request.availableAt) revert TooEarly(request.availableAt, block.timestamp);
        amount = _takeOut(msg.sender, token, to, request.amount);
        if (amount == 0) revert NoWithdrawal(msg.sender, token);
    }

    /// @dev Nothing stays changed when the token refuses, so nobody ends a deferral by calling while it is paused.
    function withdrawDeferred(bytes32 orderId, MandateOutput calldata output) external locked returns (uint256 amount) {
        (address account, address token, bytes32 hash, uint256 availableAt) = _endDeferral(orderId, output);
        if (block.timestamp < availableAt) revert TooEarly(availableAt, block.timestamp);
        amount = _takeOut(account, token, account, output.amount);
        emit DeferralEnded(orderId, hash, account, token, amount);
    }

    /// @dev Up to what is left of the balance.
    function _takeOut(address account, address token, address to, uint256 most) private returns (uint256 amount) {
        uint256 balance = balanceOf(account, token);
        amount = most < balance ? most : balance;
        if (amount == 0) return 0;
        _debit(account, token, amount);
        IERC20(token).safeTransfer(to, amount);
        // Just before the DeferralEnded of a deferred delivery: readers take the two together.
        emit Withdrawn(account, token, to, amount);
    }

    function keepDeferred(bytes32 orderId, MandateOutput calldata output) external locked {
        (address account, address token, bytes32 hash,) = _endDeferral(orderId, output);
        if (msg.sender != account) revert NotTheUser(msg.sender);
        emit DeferralEnded(orderId, hash, account, token, 0);
    }

    /// @dev What is remembered of a deferral is when it ends; the hash vouches for the rest.
    function _endDeferral(bytes32 orderId, MandateOutput calldata output)
        private
        returns (address account, address token, bytes32 hash, uint256 availableAt)
    {
        hash = output.outputHash();
        availableAt = deferredUntil[orderId][hash];
        if (availableAt == 0) revert NotDeferred(orderId, hash);
        delete deferredUntil[orderId][hash];
        (, account) = _ledgerAccount(output.callbackData);
        token = output.token.toAddress();
        deferredOf[account][token] -= output.amount;
    }

    function collectFees(address account, address token) external locked returns (uint256 amount) {
        amount = feesOf(account, token);
        _ledger[account][token] -= amount << FEES;
        _credit(feeRecipient, token, amount);
        emit FeesCollected(account, token, amount);
    }

    function balanceOf(address account, address token) public view returns (uint256) {
        return uint128(_ledger[account][token]);
    }

    function feesOf(address account, address token) public view returns (uint256) {
        return _ledger[account][token] >> FEES;
    }

    function pendingWithdrawal(address account, address token)
        external
        view
        returns (uint256 amount, uint256 availableAt, uint256 lapsesAt)
    {
        Withdrawal memory request = _withdrawals[account][token];
        if (request.amount == 0) return (0, 0, 0);
        return (request.amount, request.availableAt, request.availableAt + WITHDRAWAL_WINDOW);
    }

    /* OPERATORS */

    function setOperator(address operator, bool allowed) external {
        // Who revokes twice does not renew what the key may have signed before.
        if (allowed || isOperator(msg.sender, operator)) {
            _operators[msg.sender][operator] = allowed ? UNLIMITED : block.timestamp << 2;
        }
        emit OperatorSet(msg.sender, operator, allowed);
    }

    function limitOperator(address operator, address token, uint96 most, uint32 window) external {
        _operators[msg.sender][operator] = LIMITED;
        mapping(address token => uint256) storage limits = _limits[msg.sender][operator];
        limits[token] = limits[token].ruled(most, window);
        emit OperatorLimited(msg.sender, operator, token, most, window);
    }

    function isOperator(address account, address operator) public view returns (bool) {
        return _operators[account][operator] & 3 != 0;
    }

    function revokedAt(address account, address operator) external view returns (uint256) {
        return _operators[account][operator] >> 2;
    }

    function operatorLimit(address account, address operator, address token)
        external
        view
        returns (bool limited, uint256 most, uint256 window, uint256 since, uint256 spent)
    {
        limited = _operators[account][operator] == LIMITED;
        uint256 limit = _limits[account][operator][token];
        return (limited, limit >> 160, uint32(limit >> 128), uint32(limit >> 96), uint96(limit));
    }

    /// @dev Counts what the operator spends of the account.
    /// @param operator Zero when no limits count: then nothing is counted.
    function _spend(address account, address operator, address token, uint256 amount) private {
        if (operator == address(0)) return;
        mapping(address token => uint256) storage limits = _limits[account][operator];
        uint256 limit = limits[token].current(block.timestamp);
        uint256 left = limit.left();
        if (amount > left) revert OperatorLimitExceeded(operator, token, left, amount);
        limits[token] = limit.plus(amount);
    }

    /* NONCES */

    function isNonceUsed(address user, uint256 nonce) external view returns (bool) {
        return _nonces[user][nonce >> 8] & (1 << (nonce & 0xff)) != 0;
    }

    function invalidateNonce(uint256 nonce) external {
        _useNonce(msg.sender, nonce);
        emit NonceInvalidated(msg.sender, nonce);
    }

    /* SAME CHAIN */

    function settle(StandardOrder calldata order, bytes calldata funding, Commitment[] calldata commitments)
        external
        locked
    {
        Terms[] memory terms = _checkSettled(order);
        _requireLength(terms.length, commitments.length);
        (bytes32 orderId, bytes memory encoded) = order.idAndEncoding();
        _advance(orderId, OrderStatus.None, OrderStatus.Claimed);

        _collect(order, orderId, order.user, funding);
        _logOpen(orderId, encoded);
        MandateOutput[] calldata outputs = order.outputs;
        for (uint256 i; i < terms.length; ++i) {
            Commitment calldata commitment = commitments[i];
            MandateOutput calldata output = outputs[i];
            (address lp, uint32 deadline) = (commitment.lp, commitment.deadline);
            Terms memory t = terms[i];
            // startTime is the order's fillDeadline + 1.
            if (lp.toWord() != t.exclusiveFor || uint256(deadline) + 1 != t.startTime()) {
                revert WrongCommitment(lp, deadline);
            }
            bytes32 structHash = OrderLib.commitmentHash(orderId, commitment.quoteId, lp, deadline);
            _payFromLedger(orderId, output, lp, _requireLp(lp, structHash, commitment.signature));
        }
        _creditLps(order.inputs, terms);
        emit Finalised(orderId, terms[0].exclusiveFor, terms[0].exclusiveFor);
    }

    function settleThrough(StandardOrder calldata order, bytes calldata funding, address filler, bytes calldata data)
        external
        locked
    {
        Terms[] memory terms = _checkSettled(order);
        _requireRecipient(filler);
        (bytes32 orderId, bytes memory encoded) = order.idAndEncoding();
        _advance(orderId, OrderStatus.None, OrderStatus.Deposited);
        _collect(order, orderId, order.user, funding);
        _logOpen(orderId, encoded);
        uint256[] memory amounts = _handOver(order.inputs, terms, filler);
        _lock = uint160(filler);
        IFiller(filler).fillThrough(orderId, encoded, amounts, data);
        _lock = 1;

        bytes32 record = OrderLib.record(filler.toWord(), uint32(block.timestamp));
        for (uint256 i; i < order.outputs.length; ++i) {
            bytes32 hash = order.outputs[i].outputHash();
            if (fillRecord[orderId][hash] != record) revert NotFilled(orderId, hash);
        }
        _advance(orderId, OrderStatus.Deposited, OrderStatus.Claimed);
        emit Finalised(orderId, filler.toWord(), filler.toWord());
    }

    /// @dev Only a quote that this contract itself proves, by delivering: what another oracle proves is opened, and what
    /// is opened is never settled. Otherwise whoever sees one of the two could do the other, and void it.
    function _checkSettled(StandardOrder calldata order) private view returns (Terms[] memory terms) {
        terms = _checkOrder(order, _checkTimes(order, block.timestamp, 0));
        if (terms.length == 0) revert NotAQuote();
        if (order.inputOracle != address(this)) revert WrongOracle(order.inputOracle);
    }

    /* OPEN */

    function open(StandardOrder calldata order) external locked {
        _open(order, msg.sender, msg.data[:0]);
    }

    function openFor(StandardOrder calldata order, address sponsor, bytes calldata signature) external locked {
        _open(order, sponsor, signature);
    }

    function _open(StandardOrder calldata order, address sponsor, bytes calldata funding) private {
        // An order opened in its last second could not be filled any more.
        Terms[] memory terms = _checkOrder(order, _checkTimes(order, block.timestamp + 1, MIN_PROOF_WINDOW));
        address inputOracle = order.inputOracle;
        if (inputOracle.code.length == 0) revert NoCode(inputOracle);
        if (terms.length != 0) {
            if (inputOracle == address(this)) revert WrongOracle(inputOracle);
            // What could not be divided could not be finalised either.
            for (uint256 j; j < order.inputs.length; ++j) {
                _divide(order.inputs[j], j == 0, terms, terms.length == 0); // credits nothing
            }
        }
        (bytes32 orderId, bytes memory encoded) = order.idAndEncoding();
        _advance(orderId, OrderStatus.None, OrderStatus.Deposited);
        _status[orderId] = StatusLib.opened(block.timestamp);
        _collect(order, orderId, sponsor, funding);
        _logOpen(orderId, encoded);
    }

    /* FILL */

    function fill(bytes32 orderId, MandateOutput calldata output, uint48 fillDeadline, bytes calldata fillerData)
        external
        lockedForFill
        returns (bytes32 record)
    {
        (record,) = _fill(orderId, output, fillDeadline, _solver(fillerData));
    }

    function fillOrderOutputs(
        bytes32 orderId,
        MandateOutput[] calldata outputs,
        uint48 fillDeadline,
        bytes calldata fillerData
    ) external lockedForFill {
        if (outputs.length == 0) revert ZeroValue();
        bytes32 solver = _solver(fillerData);
        for (uint256 i; i < outputs.length; ++i) {
            (, bool fresh) = _fill(orderId, outputs[i], fillDeadline, solver);
            if (i == 0 && !fresh) revert AlreadyFilled(orderId, outputs[0].outputHash());
        }
    }

    function fillWithApprovals(
        bytes32 orderId,
        MandateOutput[] calldata outputs,
        uint48 fillDeadline,
        Approval[] calldata approvals
    ) external locked {
        if (outputs.length == 0) revert ZeroValue();
        _requireLength(outputs.length, approvals.length);
        for (uint256 i; i < outputs.length; ++i) {
            MandateOutput calldata output = outputs[i];
            Approval calldata approval = approvals[i];
            if (!OrderLib.isQuote(output.context)) revert NotAQuote();
            bytes32 solver = OrderLib.terms(output.context).exclusiveFor;
            bytes32 hash = output.outputHash();
            address lp = solver.toAddress();
            _checkFillable(output, fillDeadline, solver);
            _checkTime(approval.deadline, block.timestamp);
            bytes32 structHash =
                keccak256(abi.encode(OrderLib.FILL_APPROVAL_TYPEHASH, orderId, hash, approval.deadline));
            address operator = _requireLp(lp, structHash, approval.signature);
            if (fillRecord[orderId][hash] != 0) revert AlreadyFilled(orderId, hash);
            _requireOpen(orderId, output);
            fillRecord[orderId][hash] = OrderLib.record(solver, uint32(block.timestamp));
            _payFromLedger(orderId, output, lp, operator);
        }
    }

    function _fill(bytes32 orderId, MandateOutput calldata output, uint256 fillDeadline, bytes32 solver)
        private
        returns (bytes32 record, bool fresh)
    {
        _checkFillable(output, fillDeadline, solver);
        bytes32 hash = output.outputHash();
        record = fillRecord[orderId][hash];
        if (record != 0) return (record, false);
        _requireOpen(orderId, output);
        record = OrderLib.record(solver, uint32(block.timestamp));
        fillRecord[orderId][hash] = record;

        address account = address(uint160(uint256(solver)));
        address token = output.token.toAddress();
        (bool allowed, address operator) = _acts(account, msg.sender);
        if (allowed && account.toWord() == solver && balanceOf(account, token) >= output.amount) {
            _payFromLedger(orderId, output, account, operator);
        } else {
            _pay(orderId, output, token, solver, msg.sender);
        }
        return (record, true);
    }

    /// @dev Everything about a fill that this chain can see.
    function _checkFillable(MandateOutput calldata output, uint256 fillDeadline, bytes32 solver) private view {
        if (output.chainId != block.chainid) revert WrongChain(output.chainId, block.chainid);
        if (!_isLocal(output)) revert WrongSettler(output.settler);
        _checkTime(fillDeadline, block.timestamp);
        bytes calldata context = output.context;
        bool quote = OrderLib.isQuote(context);
        if (context.length < 37) return;
        bytes32 exclusiveFor = bytes32(context[1:33]);
        uint256 startTime = uint32(bytes4(context[33:37]));
        if (quote && startTime != fillDeadline + 1) revert WrongStartTime(startTime, fillDeadline);
        if (solver != exclusiveFor && block.timestamp < startTime) revert ExclusiveTo(exclusiveFor);
    }

    function _solver(bytes calldata fillerData) private pure returns (bytes32 solver) {
        if (fillerData.length < 32) revert ZeroValue();
        solver = bytes32(fillerData[:32]);
        if (solver == 0) revert ZeroValue();
    }

    /// @dev An output that names this escrow as its oracle is of an order of this chain, and takes fills while that order is
    /// open: neither before it is funded (settle relies on that: nothing it delivers can have been filled) nor after. Of other
    /// outputs' orders nothing is known, unless they ended here.
    function _requireOpen(bytes32 orderId, MandateOutput calldata output) private view {
        OrderStatus status = orderStatus(orderId);
        bool own = output.oracle == address(this).toWord();
        if (status > OrderStatus.Deposited || (own && status == OrderStatus.None)) {
            revert InvalidOrderStatus(orderId, status);
        }
    }

    /* FINALISE */

    function finalise(
        StandardOrder calldata order,
        SolveParams[] calldata solveParams,
        bytes32 destination,
        bytes calldata call
    ) external locked {
        (bytes32 orderId, Terms[] memory terms) = _claim(order, solveParams);
        bytes32 owner = solveParams[0].solver;
        if (terms.length != 0) {
            if (call.length != 0) revert NotForQuotes();
            _creditLps(order.inputs, terms);
            emit Finalised(orderId, owner, owner);
        } else {
            if (msg.sender.toWord() != owner) revert NotTheOwner(owner);
            _release(order, orderId, owner, destination, call);
        }
    }

    function finaliseWithSignature(
        StandardOrder calldata order,
        SolveParams[] calldata solveParams,
        bytes32 destination,
        bytes calldata call,
        bytes calldata orderOwnerSignature
    ) external locked {
        (bytes32 orderId, Terms[] memory terms) = _claim(order, solveParams);
        if (terms.length != 0) revert NotForQuotes();
        bytes32 owner = solveParams[0].solver;
        bytes32 structHash =
            keccak256(abi.encode(OrderLib.ALLOW_OPEN_TYPEHASH, orderId, destination, keccak256(call)));
        _requireSigner(owner.toAddress(), structHash, orderOwnerSignature);
        _release(order, orderId, owner, destination, call);
    }

    /// @dev Moves the order to Claimed if all of its outputs are proven.
    function _claim(StandardOrder calldata order, SolveParams[] calldata solveParams)
        private
        returns (bytes32 orderId, Terms[] memory terms)
    {
        _checkOrigin(order);
        orderId = order.id();
        _advance(orderId, OrderStatus.Deposited, OrderStatus.Claimed);
        // Stored orders passed _checkOrder, so the first context speaks for all.
        bool quote = OrderLib.isQuote(order.outputs[0].context);
        uint256 n = order.outputs.length;
        _requireLength(n, solveParams.length);
        if (quote) terms = new Terms[](n);
        bytes32[] memory series = new bytes32[](4 * n);
        uint256 words;
        for (uint256 i; i < n; ++i) {
            MandateOutput calldata output = order.outputs[i];
            (uint32 timestamp, bytes32 solver) = (solveParams[i].timestamp, solveParams[i].solver);
            if (timestamp > order.fillDeadline) revert FilledTooLate(order.fillDeadline, timestamp);
            if (quote) {
                terms[i] = OrderLib.terms(output.context);
                if (solver != terms[i].exclusiveFor) revert ExclusiveTo(terms[i].exclusiveFor);
            }
            if (_isLocal(output)) {
                bytes32 hash = output.outputHash();
                if (fillRecord[orderId][hash] != OrderLib.record(solver, timestamp)) revert NotFilled(orderId, hash);
            } else {
                // At most four words of each output.
                unchecked {
                    series[words++] = bytes32(output.chainId);
                    series[words++] = output.oracle;
                    series[words++] = output.settler;
                    series[words++] = OrderLib.payloadHash(solver, orderId, timestamp, output);
                }
            }
        }
        if (words != 0) {
            assembly ("memory-safe") {
                mstore(series, words)
            }
            IInputOracle(order.inputOracle).efficientRequireProven(abi.encodePacked(series));
        }
    }

    /// @dev Pays a plain order's inputs.
    function _release(
        StandardOrder calldata order,
        bytes32 orderId,
        bytes32 owner,
        bytes32 destination,
        bytes calldata call
    ) private {
        address to = destination.toAddress();
        _requireRecipient(to);
        emit Finalised(orderId, owner, destination);
        for (uint256 j; j < order.inputs.length; ++j) {
            IERC20(_token(order.inputs[j])).safeTransfer(to, order.inputs[j][1]);
        }
        if (call.length != 0) IInputCallback(to).orderFinalised(order.inputs, call);
    }

    /* REFUND */

    function refund(StandardOrder calldata order) external locked {
        if (block.timestamp <= order.expires) revert TooEarly(uint256(order.expires) + 1, block.timestamp);
        _refund(order);
    }

    function release(StandardOrder calldata order, bytes[] calldata signatures) external locked {
        bytes32 structHash = keccak256(abi.encode(OrderLib.RELEASE_TYPEHASH, order.id()));
        _requireLength(order.outputs.length, signatures.length);
        for (uint256 i; i < signatures.length; ++i) {
            bytes calldata context = order.outputs[i].context;
            if (!OrderLib.isQuote(context)) revert NotAQuote();
            address lp = OrderLib.terms(context).exclusiveFor.toAddress();
            address operator = _requireLp(lp, structHash, signatures[i]);
            for (uint256 j; j < order.inputs.length; ++j) {
                _spend(lp, operator, _token(order.inputs[j]), order.inputs[j][1]);
            }
        }
        _refund(order);
    }

    /// @dev A push that fails becomes a credit. The caller cannot bring that about: a push gets the same gas every time, and a
    /// call with less to give reverts.
    function _refund(StandardOrder calldata order) private {
        _checkOrigin(order);
        bytes32 orderId = order.id();
        _advance(orderId, OrderStatus.Deposited, OrderStatus.Refunded);
        emit Refunded(orderId);
        for (uint256 j; j < order.inputs.length; ++j) {
            address token = _token(order.inputs[j]);
            uint256 amount = order.inputs[j][1];
            if (!token.push(order.user, amount)) {
                _credit(order.user, token, amount);
                emit Credited(order.user, token, amount);
            }
        }
    }

    /* ATTESTER */

    function hasAttested(bytes[] calldata payloads) external view returns (bool) {
        for (uint256 i; i < payloads.length; ++i) {
            (bytes32 solver, bytes32 orderId, uint32 timestamp, bytes32 hash) =
                OrderLib.readPayload(payloads[i], msg.sender.toWord());
            if (fillRecord[orderId][hash] != OrderLib.record(solver, timestamp)) return false;
        }
        return payloads.length != 0;
    }

    /* ORDER CHECKS */

    function orderIdentifier(StandardOrder calldata order) external view returns (bytes32) {
        return order.id();
    }

    function orderStatus(bytes32 orderId) public view returns (OrderStatus) {
        return OrderStatus(_status[orderId] & 3);
    }

    function openedAt(bytes32 orderId) external view returns (uint256) {
        return _status[orderId] >> 2;
    }

    function _checkOrigin(StandardOrder calldata order) private view {
        if (order.originChainId != block.chainid) revert WrongChain(order.originChainId, block.chainid);
    }

    /// @param latest The moment that must not be after fillDeadline.
    /// @param window Least seconds between fillDeadline and expires.
    function _checkTimes(StandardOrder calldata order, uint256 latest, uint256 window)
        private
        pure
        returns (uint256 fillDeadline)
    {
        fillDeadline = order.fillDeadline;
        _checkTime(fillDeadline, latest);
        if (fillDeadline + window > order.expires) {
            revert ProofWindowTooShort(order.expires < fillDeadline ? 0 : order.expires - fillDeadline, window);
        }
    }

    /// @dev Whatever else must hold of an order before its inputs are taken. It takes no constants: the optimizer would make a
    /// copy of the code for each.
    /// @return terms Of the outputs when they are 0xe2, else empty.
    function _checkOrder(StandardOrder calldata order, uint256 fillDeadline)
        private
        view
        returns (Terms[] memory terms)
    {
        _checkOrigin(order);
        // Refunds go to the user.
        _requireRecipient(order.user);
        _checkInputs(order.inputs);

        MandateOutput[] calldata outputs = order.outputs;
        uint256 n = outputs.length;
        if (n == 0) revert ZeroValue();
        bytes32[] memory hashes = new bytes32[](n);
        bool own = order.inputOracle == address(this);
        uint256 portions;
        for (uint256 i; i < n; ++i) {
            MandateOutput calldata output = outputs[i];
            if (n > 1) {
                bytes32 hash = hashes[i] = output.fillHash();
                for (uint256 k; k < i; ++k) {
                    if (hashes[k] == hash) revert DuplicateOutput(hash);
                }
            }
            // What this contract is to prove, it has to see delivered here.
            if (own && !(_isLocal(output) && output.oracle == address(this).toWord())) revert Unprovable(i);
            bool quote = OrderLib.isQuote(output.context);
            if (quote && i == 0) terms = new Terms[](n);
            if (quote != (terms.length != 0)) revert MixedContexts();
            if (!quote) continue;
            Terms memory t = terms[i] = OrderLib.terms(output.context);
            t.exclusiveFor.toAddress();
            (uint256 startTime, uint256 portionBps, uint256 feeBps) = (t.startTime(), t.portionBps(), t.feeBps());
            if (startTime != fillDeadline + 1) revert WrongStartTime(startTime, fillDeadline);
            if (feeBps > MAX_FEE_BPS || (i != 0 && feeBps != terms[0].feeBps())) revert InvalidFee(feeBps);
            if (portionBps == 0) revert InvalidPortions(0);
            portions += portionBps;
        }
        if (terms.length != 0 && portions != BPS) revert InvalidPortions(portions);
    }

    function _checkInputs(uint256[2][] calldata inputs) private pure {
        uint256 n = inputs.length;
        if (n == 0) revert ZeroValue();
        for (uint256 j; j < n; ++j) {
            address token = bytes32(inputs[j][0]).toAddress();
            if (inputs[j][1] == 0) revert ZeroValue();
            if (inputs[j][1] >> FEES != 0) revert AmountTooLarge(inputs[j][1]);
            for (uint256 k; k < j; ++k) {
                if (inputs[k][0] == inputs[j][0]) revert DuplicateInput(token);
            }
        }
    }

    function _checkTime(uint256 deadline, uint256 timestamp) private pure {
        if (timestamp > deadline) revert DeadlinePassed(deadline, timestamp);
    }

    function _requireLength(uint256 expected, uint256 actual) private pure {
        if (expected != actual) revert LengthMismatch(expected, actual);
    }

    function _isLocal(MandateOutput calldata output) private view returns (bool) {
        return output.chainId == block.chainid && output.settler == address(this).toWord();
    }

    /// @dev Checked to have no other bits when the order came in.
    function _token(uint256[2] calldata input) private pure returns (address) {
        return address(uint160(input[0]));
    }

    /// @dev The one place where an order changes status; when it was opened stays.
    function _advance(bytes32 orderId, OrderStatus from, OrderStatus to) private {
        OrderStatus status = orderStatus(orderId);
        if (status != from) revert InvalidOrderStatus(orderId, status);
        _status[orderId] += StatusLib.step(from, to);
    }

    function _useNonce(address user, uint256 nonce) private {
        mapping(uint256 word => uint256) storage nonces = _nonces[user];
        uint256 word = nonces[nonce >> 8];
        if (NonceLib.isUsed(word, nonce)) revert NonceUsed(user, nonce);
        nonces[nonce >> 8] = NonceLib.used(word, nonce);
    }

    /* SIGNATURES */

    function eip712Domain()
        external
        view
        returns (bytes1, string memory, string memory, uint256, address, bytes32, uint256[] memory)
    {
        return (hex"0f", "EscrowV0", "1", block.chainid, address(this), 0, new uint256[](0));
    }

    /// @dev After a fork of the chain the separator of the deployment is that of the other branch.
    function _digest(bytes32 structHash) private view returns (bytes32) {
        bytes32 domain = block.chainid == _deploymentChainId ? _deploymentDomain : OrderLib.domainSeparator();
        return MessageHashUtils.toTypedDataHash(domain, structHash);
    }

    function _requireSigner(address signer, bytes32 structHash, bytes calldata signature) private view {
        bytes32 digest = _digest(structHash);
        bool byKey = signer != address(0) && SignatureLib.recover(digest, signature) == signer;
        _requireSigned(byKey, signer, digest, signature);
    }

    /// @dev By the LP or one of its operators.
    /// @return operator Whose limits count; zero when none do.
    function _requireLp(address lp, bytes32 structHash, bytes calldata signature)
        private
        view
        returns (address operator)
    {
        bytes32 digest = _digest(structHash);
        bool allowed;
        (allowed, operator) = _acts(lp, _signer(digest, signature));
        _requireSigned(allowed, lp, digest, signature);
    }

    /// @dev By a key that acts for the account, else by the account's own rule.
    function _requireSigned(bool byKey, address account, bytes32 digest, bytes calldata signature) private view {
        if (!byKey && !SignatureLib.accepts(account, digest, signature)) revert InvalidSignature(account);
    }

    /// @dev Of the digest itself, or of a tree that holds it.
    function _signer(bytes32 digest, bytes calldata signature) private view returns (address) {
        if (SignatureLib.isOfTree(signature)) {
            (digest, signature) = SignatureLib.climb(digest, signature);
            digest = _digest(OrderLib.treeHash(digest));
        }
        return SignatureLib.recover(digest, signature);
    }

    /// @return allowed Whether `key` acts for the account.
    /// @return operator The key when its limits count, else zero.
    function _acts(address account, address key) private view returns (bool allowed, address operator) {
        if (key == address(0)) return (false, key);
        if (key == account) return (true, address(0));
        uint256 kind = _operators[account][key] & 3;
        return (kind != 0, kind == LIMITED ? key : address(0));
    }

    /* EVENTS, from the encodings above */

    /// @dev emit Open(orderId, order)
    function _logOpen(bytes32 orderId, bytes memory encoded) private {
        bytes32 topic = Open.selector;
        assembly ("memory-safe") {
            log2(add(encoded, 0x20), mload(encoded), topic, orderId)
        }
    }

    /// @dev emit OutputFilled(orderId, solver, uint32(block.timestamp), output, output.amount)
    /// @return data The output's callbackData.
    function _logFilled(bytes32 orderId, bytes32 solver, MandateOutput calldata output)
        private
        returns (bytes calldata data)
    {
        bytes32 topic = OutputFilled.selector;
        uint256 amount = output.amount;
        uint256 p;
        assembly ("memory-safe") {
            p := mload(0x40)
            mstore(p, solver)
            mstore(add(p, 0x20), and(timestamp(), 0xffffffff))
            mstore(add(p, 0x40), 0x80)
            mstore(add(p, 0x60), amount)
            mstore(0x40, add(p, 0x80))
        }
        data = OrderLib.append(output);
        assembly ("memory-safe") {
            log2(p, sub(mload(0x40), p), topic, orderId)
        }
    }

    /* MONEY IN */

    /// @dev Takes every input from `sponsor`, and the nonce with it when that is the user.
    function _collect(StandardOrder calldata order, bytes32 orderId, address sponsor, bytes calldata funding) private {
        bytes1 mode = FUND_SELF;
        if (funding.length != 0) {
            mode = funding[0];
            funding = funding[1:];
        }
        address user = order.user;
        if (sponsor == user) {
            _useNonce(user, order.nonce);
        } else if (mode != FUND_PERMIT2_WITNESS && mode != FUND_ERC3009_ORDER) {
            revert NotTheUser(sponsor);
        }

        uint256[2][] calldata inputs = order.inputs;
        uint256 n = inputs.length;
        if (mode >= FUND_PERMIT2_GRANT && mode <= FUND_LEDGER) {
            _requireSigner(user, order.structHash(), SignatureLib.item(funding, 0));
        }
        if (mode == FUND_LEDGER) {
            for (uint256 j; j < n; ++j) {
                _debit(user, _token(inputs[j]), inputs[j][1]);
            }
            return;
        }

        if (mode == FUND_PERMIT2_INLINE) {
            (, uint256 deadline) = abi.decode(funding, (uint256, uint256));
            return _collectPermitted(order, user, deadline, SignatureLib.item(funding, 2));
        }
        if (mode == FUND_PERMIT2_WITNESS) return _collectPermitted(order, sponsor, order.fillDeadline, funding);
        for (uint256 j; j < n; ++j) {
            address token = _token(inputs[j]);
            uint256 amount = inputs[j][1];
            uint256 before = token.holding(address(this));
            if (mode == FUND_SELF) {
                if (msg.sender != user) revert NotTheUser(msg.sender);
                IERC20(token).safeTransferFrom(user, address(this), amount);
            } else if (mode == FUND_ERC3009_INLINE) {
                if (n != 1) revert NotOneInput(n);
                (, uint256 validAfter, uint256 validBefore, bytes32 nonce) =
                    abi.decode(funding, (uint256, uint256, uint256, bytes32));
                _authorize(inputs[j], user, validAfter, validBefore, nonce, SignatureLib.item(funding, 4));
            } else if (mode == FUND_PERMIT2_GRANT) {
                IPermit2(PERMIT2).transferFrom(user, address(this), uint160(amount), token);
            } else if (mode == FUND_ERC3009_ORDER) {
                // Several: abi.encode(bytes[]) is an offset, the count, then words that point to the items from here on.
                if (n != 1) _requireLength(n, uint256(bytes32(funding[32:64])));
                bytes calldata signature = n == 1 ? funding : SignatureLib.item(funding[64:], j);
                _authorize(inputs[j], sponsor, 0, order.fillDeadline, orderId, signature);
            } else {
                revert UnknownFundingMode(mode);
            }
            token.requireReceived(address(this), before, amount);
        }
    }

    /// @dev The token checks that this contract is both payee and caller, so nobody can use the authorization elsewhere.
    function _authorize(
        uint256[2] calldata input,
        address from,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) private {
        IERC3009 token = IERC3009(_token(input));
        if (signature.length == 65 || signature.length == 64) {
            (uint8 v, bytes32 r, bytes32 s) = ECDSA.parseCalldata(signature);
            token.receiveWithAuthorization(from, address(this), input[1], validAfter, validBefore, nonce, v, r, s);
        } else {
            token.receiveWithAuthorization(from, address(this), input[1], validAfter, validBefore, nonce, signature);
        }
    }

    function _collectPermitted(
        StandardOrder calldata order,
        address owner,
        uint256 deadline,
        bytes calldata permitSignature
    ) private {
        uint256[2][] calldata inputs = order.inputs;
        uint256 n = inputs.length;
        uint256[] memory held = new uint256[](n);
        IPermit2.PermitBatchTransferFrom memory permit;
        permit.permitted = new IPermit2.TokenPermissions[](n);
        permit.nonce = order.nonce;
        permit.deadline = deadline;
        IPermit2.SignatureTransferDetails[] memory transfers = new IPermit2.SignatureTransferDetails[](n);
        for (uint256 j; j < n; ++j) {
            (address token, uint256 amount) = (_token(inputs[j]), inputs[j][1]);
            held[j] = token.holding(address(this));
            permit.permitted[j] = IPermit2.TokenPermissions(token, amount);
            transfers[j] = IPermit2.SignatureTransferDetails(address(this), amount);
        }
        IPermit2(PERMIT2).permitWitnessTransferFrom(
            permit, transfers, owner, order.witnessHash(), OrderLib.PERMIT2_WITNESS_TYPESTRING, permitSignature
        );
        for (uint256 j; j < n; ++j) {
            _token(inputs[j]).requireReceived(address(this), held[j], inputs[j][1]);
        }
    }

    /* MONEY OUT */

    /// @param amounts For the balance and, above FEES, the fees beside it. Reverts when the fees no longer fit, until they are
    /// collected. A balance always fits: of every token less than 2^128 base units are assumed to exist.
    function _credit(address account, address token, uint256 amounts) private {
        _ledger[account][token] += amounts;
    }

    function _debit(address account, address token, uint256 amount) private {
        mapping(address token => uint256) storage entries = _ledger[account];
        uint256 entry = entries[token];
        uint256 balance = LedgerLib.balance(entry);
        if (balance < amount) revert InsufficientBalance(account, token, balance, amount);
        entries[token] = LedgerLib.minus(entry, amount);
    }

    /// @param operator Who decided it for the LP, when its limits count.
    function _payFromLedger(bytes32 orderId, MandateOutput calldata output, address lp, address operator) private {
        address token = output.token.toAddress();
        _spend(lp, operator, token, output.amount);
        _debit(lp, token, output.amount);
        _pay(orderId, output, token, lp.toWord(), address(this));
    }

    /// @dev Delivers an output of this contract from `payer`: this contract, or the caller who approved it.
    function _pay(bytes32 orderId, MandateOutput calldata output, address token, bytes32 solver, address payer)
        private
    {
        address recipient = output.recipient.toAddress();
        uint256 amount = output.amount;
        bytes calldata data = _logFilled(orderId, solver, output);
        if (recipient == address(this)) return _payIntoLedger(orderId, output, token, payer, data);

        uint256 before = token.holding(recipient);
        if (payer == address(this)) IERC20(token).safeTransfer(recipient, amount);
        else IERC20(token).safeTransferFrom(payer, recipient, amount);
        token.requireReceived(recipient, before, amount);

        if (data.length != 0) IOutputCallback(recipient).outputFilled(output.token, amount, data);
    }

    /// @dev An output whose recipient is this contract: a credit of the account that its callbackData names. What a ledger
    /// balance pays stays here; what the caller pays is measured on its way in, under the lock, like a deposit.
    function _payIntoLedger(
        bytes32 orderId,
        MandateOutput calldata output,
        address token,
        address payer,
        bytes calldata data
    ) private {
        (bytes2 kind, address account) = _ledgerAccount(data);
        uint256 amount = output.amount;
        if (payer != address(this)) {
            uint256 before = token.holding(address(this));
            IERC20(token).safeTransferFrom(payer, address(this), amount);
            token.requireReceived(address(this), before, amount);
        }
        _credit(account, token, amount);
        emit Credited(account, token, amount);
        if (kind == TO_LEDGER_DEFERRED) {
            deferredUntil[orderId][output.outputHash()] = block.timestamp + WITHDRAWAL_DELAY;
            deferredOf[account][token] += amount;
        }
    }

    function _ledgerAccount(bytes calldata data) private view returns (bytes2 kind, address account) {
        kind = bytes2(data);
        if (data.length != 22 || (kind != TO_LEDGER && kind != TO_LEDGER_DEFERRED)) {
            revert InvalidRecipient(address(this));
        }
        account = address(bytes20(data[2:]));
        _requireRecipient(account);
    }

    /// @dev Divides an input of a 0xe2 order as {IEscrow} says; with `credit`, into the LPs' ledger balances.
    /// @param first Whether it is the first input, which pays the relay fees.
    /// @param credit Never a constant: the optimizer would make a copy of this function for it.
    /// @return fees What all fees come to.
    function _divide(uint256[2] calldata input, bool first, Terms[] memory terms, bool credit)
        private
        returns (uint256 fees)
    {
        (address token, uint256 amount) = (_token(input), input[1]);
        // Below 2^128, so no product overflows; the slices sum to the amount because the portions sum to BPS.
        unchecked {
            uint256 left = amount;
            uint256 last = terms.length - 1;
            for (uint256 i; i <= last; ++i) {
                Terms memory t = terms[i];
                uint256 slice = FeeLib.sliceDown(amount, t.portionBps(), left, i == last);
                left -= slice;
                uint256 fee = FeeLib.feesDown(slice, t.feeBps(), first, t.relayFee());
                if (fee > slice) revert FeesExceedSlice(fee, slice);
                fees += fee;
                if (credit) _credit(address(uint160(uint256(t.exclusiveFor))), token, LedgerLib.pack(slice - fee, fee));
            }
        }
    }

    function _creditLps(uint256[2][] calldata inputs, Terms[] memory terms) private {
        for (uint256 j; j < inputs.length; ++j) {
            _divide(inputs[j], j == 0, terms, terms.length != 0);
        }
    }

    /// @dev Gives the inputs of an order, less fees, to the filler of settleThrough.
    function _handOver(uint256[2][] calldata inputs, Terms[] memory terms, address filler)
        private
        returns (uint256[] memory amounts)
    {
        amounts = new uint256[](inputs.length);
        for (uint256 j; j < inputs.length; ++j) {
            uint256 fees = _divide(inputs[j], j == 0, terms, terms.length == 0); // credits nothing
            _credit(feeRecipient, _token(inputs[j]), fees);
            amounts[j] = inputs[j][1] - fees;
        }
        for (uint256 j; j < inputs.length; ++j) {
            IERC20(_token(inputs[j])).safeTransfer(filler, amounts[j]);
        }
    }
}
