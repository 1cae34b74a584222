// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC5267} from "@openzeppelin/contracts/interfaces/IERC5267.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

import {EscrowBase} from "./EscrowBase.sol";
import {EscrowExtension} from "./EscrowExtension.sol";
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
import {LedgerLib} from "./libraries/LedgerLib.sol";
import {LimitLib} from "./libraries/LimitLib.sol";
import {OrderLib, Terms} from "./libraries/OrderLib.sol";
import {SignatureLib} from "./libraries/SignatureLib.sol";
import {StatusLib} from "./libraries/StatusLib.sol";
import {TokenLib} from "./libraries/TokenLib.sol";

/// @title Escrow
/// @notice See {IEscrow}, which is the manual. Unaudited.
/// @dev Every function that moves balances sets its status first and holds one transient lock for its whole run. Status
/// alone would do for orders, but amounts received are measured as a difference of balances, and a token that calls back
/// into a second deposit while the first is being measured would be credited twice.
contract Escrow is EscrowBase, IEscrow, IERC5267 {
    using OrderLib for StandardOrder;
    using OrderLib for MandateOutput;
    using OrderLib for Terms;
    using OrderLib for address;
    using OrderLib for bytes32;
    using LimitLib for uint256;
    using SafeERC20 for IERC20;
    using TokenLib for address;

    bytes1 private constant FUND_PERMIT2_WITNESS = 0x00;
    bytes1 private constant FUND_ERC3009_ORDER = 0x01;
    bytes1 private constant FUND_PERMIT2_GRANT = 0x10;
    bytes1 private constant FUND_PERMIT2_INLINE = 0x11;
    bytes1 private constant FUND_ERC3009_INLINE = 0x12;
    bytes1 private constant FUND_LEDGER = 0x13;
    bytes1 private constant FUND_SELF = 0xff;

    /// @notice The {EscrowExtension} that the constructor made.
    address public immutable EXTENSION;
    uint256 private immutable _deploymentChainId;
    bytes32 private immutable _deploymentDomain;

    constructor(
        address permit2,
        address feeRecipient_,
        uint256 maxFeeBps,
        uint256 withdrawalDelay,
        uint256 withdrawalWindow,
        uint256 minProofWindow
    ) EscrowBase(permit2, feeRecipient_, maxFeeBps, withdrawalDelay, withdrawalWindow, minProofWindow) {
        EXTENSION = address(
            new EscrowExtension(
                permit2, feeRecipient_, maxFeeBps, withdrawalDelay, withdrawalWindow, minProofWindow
            )
        );
        _deploymentChainId = block.chainid;
        _deploymentDomain = OrderLib.domainSeparator();
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

    /* OPERATORS */

    function limitOperator(address operator, address token, uint96 most, uint32 window) external {
        // It would be a limit of each payment.
        if (window == 0) revert InvalidParameter();
        _operators[msg.sender][operator] = LIMITED;
        mapping(address token => uint256) storage limits = _limits[msg.sender][operator];
        limits[token] = limits[token].ruled(most, window);
        emit OperatorLimited(msg.sender, operator, token, most, window);
    }

    function operatorLimit(address account, address operator, address token)
        external
        view
        returns (bool limited, uint256 most, uint256 window, uint256 since, uint256 spent)
    {
        limited = _operators[account][operator] == LIMITED;
        uint256 limit = _limits[account][operator][token];
        return (limited, limit.most(), limit.window(), limit.since(), limit.spent());
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
                _divide(order.inputs[j], j == 0, terms, false);
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

    /* ORDERS */

    function orderIdentifier(StandardOrder calldata order) external view returns (bytes32) {
        return order.id();
    }

    function openedAt(bytes32 orderId) external view returns (uint256) {
        return StatusLib.openedAt(_status[orderId]);
    }

    /* WHAT THE EXTENSION DOES */

    function pendingWithdrawal(address, address)
        external
        view
        returns (uint256, uint256, uint256)
    {
        _extendView();
    }

    function release(StandardOrder calldata, bytes[] calldata) external {
        _extend();
    }

    function setOperator(address, bool) external {
        _extend();
    }

    function invalidateNonce(uint256) external {
        _extend();
    }

    function collectFees(address, address) external returns (uint256) {
        _extend();
    }

    function feesOf(address, address) external view returns (uint256) {
        _extendView();
    }

    function revokedAt(address, address) external view returns (uint256) {
        _extendView();
    }

    function operatorLeft(address, address, address) external view returns (uint256) {
        _extendView();
    }

    function checkSettle(StandardOrder calldata) external view returns (bytes32) {
        _extendView();
    }

    function signerOf(bytes32, bytes calldata) external view returns (bytes32, address) {
        _extendView();
    }

    function hasAttested(bytes[] calldata) external view returns (bool) {
        _extendView();
    }

    function eip712Domain()
        external
        view
        returns (bytes1, string memory, string memory, uint256, address, bytes32, uint256[] memory)
    {
        _extendView();
    }

    /// @dev Runs this call in the code of the extension, on the storage of this contract, and answers what it answers.
    function _extend() private {
        address extension = EXTENSION;
        assembly ("memory-safe") {
            let place := mload(0x40)
            calldatacopy(place, 0, calldatasize())
            let success := delegatecall(gas(), extension, place, calldatasize(), 0, 0)
            returndatacopy(place, 0, returndatasize())
            if success { return(place, returndatasize()) }
            revert(place, returndatasize())
        }
    }

    /// @dev The same of a function that changes nothing: the compiler knows no delegatecall that does not.
    function _extendView() private view {
        function() internal change = _extend;
        function() internal view look;
        assembly ("memory-safe") {
            look := change
        }
        look();
        revert(); // never: the call has been answered
    }

    /* SIGNATURES */

    /// @dev After a fork of the chain the separator of the deployment is that of the other branch.
    function _domain() internal view override returns (bytes32) {
        return block.chainid == _deploymentChainId ? _deploymentDomain : OrderLib.domainSeparator();
    }

    function _requireSigner(address signer, bytes32 structHash, bytes calldata signature) private view {
        bytes32 digest = _digest(structHash);
        bool byKey = signer != address(0) && SignatureLib.recover(digest, signature) == signer;
        _requireSigned(byKey, signer, digest, signature);
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
        } else if (
            (mode != FUND_PERMIT2_WITNESS && mode != FUND_ERC3009_ORDER) || OrderLib.isQuote(order.outputs[0].context)
        ) {
            // A sponsor leaves the nonce alone, and LPs hold money for one quote of a nonce.
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

    function _creditLps(uint256[2][] calldata inputs, Terms[] memory terms) private {
        for (uint256 j; j < inputs.length; ++j) {
            _divide(inputs[j], j == 0, terms, true);
        }
    }

    /// @dev Gives the inputs of an order, less fees, to the filler of settleThrough.
    function _handOver(uint256[2][] calldata inputs, Terms[] memory terms, address filler)
        private
        returns (uint256[] memory amounts)
    {
        amounts = new uint256[](inputs.length);
        for (uint256 j; j < inputs.length; ++j) {
            uint256 fees = _divide(inputs[j], j == 0, terms, false);
            _credit(feeRecipient, _token(inputs[j]), fees);
            amounts[j] = inputs[j][1] - fees;
        }
        for (uint256 j; j < inputs.length; ++j) {
            IERC20(_token(inputs[j])).safeTransfer(filler, amounts[j]);
        }
    }
}
