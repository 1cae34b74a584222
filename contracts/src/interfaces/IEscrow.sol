// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAttester} from "./IAttester.sol";

/// @notice An order as its taker signs it, field for field that of the Open Intents Framework.
/// @param user Whoever pays the inputs and gets them back on refund.
/// @param nonce Unordered; any 256-bit number that `user` has not used here before.
/// @param originChainId Chain of the escrow that takes the inputs.
/// @param expires Unix seconds. Later than this an order that was not finalised may be refunded.
/// @param fillDeadline Unix seconds. The last second in which outputs may be delivered.
/// @param inputOracle Who proves fills made on other chains. The escrow itself when every output is on its own chain: a 0xe2
/// order is then settled and never opened, any other is opened and never settled.
/// @param inputs Rows of (token, amount): the token as a number below 2^160, the amount in base units.
/// @param outputs What has to be delivered, and where.
struct StandardOrder {
    address user;
    uint256 nonce;
    uint256 originChainId;
    uint32 expires;
    uint32 fillDeadline;
    address inputOracle;
    uint256[2][] inputs;
    MandateOutput[] outputs;
}

/// @notice One delivery.
/// @param oracle The oracle on the output's chain. The escrow itself when that is the order's origin chain too: such an output
/// is filled only while its order is open there.
/// @param settler The escrow on the output's chain.
/// @param chainId The output's chain.
/// @param token ERC-20, left-padded. Native currency is not supported.
/// @param amount Base units; the least the recipient must receive.
/// @param recipient Left-padded; not zero. The escrow that delivers: the output goes into its ledger, see "Ledger deliveries" in
/// {IEscrow}.
/// @param callbackData When not empty, `recipient.outputFilled(token, amount, callbackData)` follows the transfer. Of a ledger
/// delivery: the account.
/// @param context Who may fill and how inputs are divided; see "Contexts" in {IEscrow}.
struct MandateOutput {
    bytes32 oracle;
    bytes32 settler;
    uint256 chainId;
    bytes32 token;
    uint256 amount;
    bytes32 recipient;
    bytes callbackData;
    bytes context;
}

/// @notice An LP's firm promise of one order, handed to `settle`; entry i belongs to output i.
/// @param quoteId The quote the LP answered with. Signed, not interpreted.
/// @param lp The account whose ledger balance pays; equals `exclusiveFor` of the output.
/// @param deadline Unix seconds; equals the order's fillDeadline.
/// @param signature Over `QuoteCommitment(bytes32 orderId,bytes32 quoteId,address lp,uint32 deadline)`.
struct Commitment {
    bytes32 quoteId;
    address lp;
    uint32 deadline;
    bytes signature;
}

/// @notice An LP's consent to one fill on this chain, handed to `fillWithApprovals`; entry i belongs to output i.
/// @param deadline Unix seconds; the last second in which the consent counts.
/// @param signature Over `FillApproval(bytes32 orderId,bytes32 outputHash,uint32 deadline)`.
struct Approval {
    uint32 deadline;
    bytes signature;
}

/// @notice Who filled an output and when, as recorded on the output's chain.
struct SolveParams {
    uint32 timestamp;
    bytes32 solver;
}

/// @notice Life of an order on its origin chain: None to Deposited to Claimed or Refunded; `settle` goes from None
/// straight to Claimed. No other step exists and none is undone.
enum OrderStatus {
    None,
    Deposited,
    Claimed,
    Refunded
}

/// @notice What both parts of an escrow answer: its parameters, and what the rules of both read. The rest is in {IEscrow}.
interface IEscrowBase {
    /* PARAMETERS */

    /// @notice The Permit2 contract.
    function PERMIT2() external view returns (address);
    /// @notice The ledger account that fees are credited to.
    function feeRecipient() external view returns (address);
    /// @notice Most that feeBps may be, in hundredths of a percent.
    function MAX_FEE_BPS() external view returns (uint256);
    /// @notice Seconds from a withdrawal request to its withdrawal. Longer than any quote lives.
    function WITHDRAWAL_DELAY() external view returns (uint256);
    /// @notice Seconds for which a ripe request stays.
    function WITHDRAWAL_WINDOW() external view returns (uint256);
    /// @notice Least seconds between fillDeadline and expires of an order that is opened.
    function MIN_PROOF_WINDOW() external view returns (uint256);

    /* STATE */

    /// @notice What `account` has here of `token`, base units, requested withdrawals included.
    function balanceOf(address account, address token) external view returns (uint256);
    /// @notice What of the account's balance was delivered to be withdrawn by itself and has not been. At most that leaves without
    /// a request.
    function deferredOf(address account, address token) external view returns (uint256);
    /// @notice From when on a deferred delivery may be pushed, Unix seconds; zero when none waits.
    function deferredUntil(bytes32 orderId, bytes32 outputHash) external view returns (uint256);
    /// @notice Whether `operator` signs and fills for `account`, without limits or within them.
    function isOperator(address account, address operator) external view returns (bool);
    /// @notice Whether `user` can no longer use `nonce`.
    function isNonceUsed(address user, uint256 nonce) external view returns (bool);
    /// @notice Where the order is in its life on this chain.
    function orderStatus(bytes32 orderId) external view returns (OrderStatus);
    /// @notice keccak256(solver ‖ uint32 timestamp) of a fill made here, zero when there is none. An outputHash is
    /// keccak256(abi.encode(output)). Outputs delivered by
    /// `settle` leave no record: their order is Claimed, and `fill` refuses it.
    function fillRecord(bytes32 orderId, bytes32 outputHash) external view returns (bytes32);
}

/// @title IEscrow
/// @notice A ledger of LP inventory and taker deposits, an escrow for order inputs, and the place where outputs are paid.
/// One per chain, no owner, no upgrade, no pause. UNAUDITED.
///
/// Contexts (first byte of `MandateOutput.context`)
/// - empty or 0x00 (1 byte): limit order, anyone fills.
/// - 0xe0 ‖ exclusiveFor(32) ‖ startTime(4): only `exclusiveFor` fills before startTime, anyone from then on.
/// - 0xe2 ‖ exclusiveFor(32) ‖ startTime(4) ‖ portionBps(2) ‖ feeBps(2) ‖ relayFee(16): a quote. Only `exclusiveFor` ever
///   fills; startTime = fillDeadline + 1. All outputs of an order are 0xe2 or none is. Portions are not zero and sum to
///   10,000; feeBps is equal in all outputs and at most MAX_FEE_BPS. `exclusiveFor` is one account on both chains: it pays
///   where the output is and is credited where the input is.
/// - anything else reverts.
///
/// How inputs of a 0xe2 order are divided, per input of `amount`: slice i = amount * portionBps_i / 10,000 rounded down, the
/// last slice takes what is left; fee i = slice i * feeBps / 10,000 rounded down, plus relayFee_i on the first input. LP i is
/// credited slice i - fee i. A fee above its slice makes the order invalid. The fees stay beside the balance of the LP whose
/// slice pays them until somebody calls `collectFees`; those of settleThrough are credited to `feeRecipient` at once.
///
/// Ledger deliveries: an output whose recipient is the escrow that delivers it credits a ledger balance there and calls nobody. Its
/// callbackData is 22 bytes, version 0x01 ‖ kind ‖ account(20); anything else reverts. Kind 0x00: the amount stays in the
/// account's balance. Kind 0x01, deferred: it does too, and from WITHDRAWAL_DELAY later on anyone may push it to the account's own
/// wallet, once, as far as the balance still covers it. It is spendable until then, and whoever relies on the balance
/// counts `deferredOf` as gone from the delivery on. Each delivery is remembered by itself, so nobody's delivery delays,
/// shrinks or replaces another, nor a requested withdrawal. A push that the token refuses leaves everything as it was: the
/// amount is in the balance, the account can request it for another address, and the push may be tried again.
///
/// Funding (`signature` of openFor, `funding` of settle and settleThrough): one byte, then what the mode needs
/// - 0x00 Permit2 batch signature with the order as witness, nonce = order.nonce, deadline = fillDeadline. Raw signature.
/// - 0x01 ERC-3009 receiveWithAuthorization, window 0 to fillDeadline, nonce = orderId. One input: raw signature; several:
///   abi.encode(bytes[]).
/// - 0xff or nothing at all: msg.sender is the user and has approved this contract.
/// - 0x10 abi.encode(bytes orderSignature): a standing Permit2 allowance to this contract.
/// - 0x11 abi.encode(bytes orderSignature, uint256 deadline, bytes permitSignature): as 0x00 with a deadline of its own.
/// - 0x12 abi.encode(bytes orderSignature, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes authSignature): one
///   ERC-3009 receiveWithAuthorization with any nonce; the order has exactly one input.
/// - 0x13 abi.encode(bytes orderSignature): the user's ledger balance.
/// In 0x10 to 0x13 the sponsor is the user. transferWithAuthorization is never used and authorizationState never read. A
/// permit signed for 0x11 is by itself a signature in 0x00 for the same order with fillDeadline = its deadline: of a plain
/// order let the two be equal (0xe2 contexts name fillDeadline, so there they have to be).
///
/// Signatures: 65 bytes (v 27 or 28) or 64 bytes (ERC-2098), low s, else ERC-1271 with a cap of 500,000 gas on accounts with
/// code; ECDSA is tried first, so a delegated EOA may sign either way. Orders are signed by the user alone; commitments,
/// approvals and releases by the LP or one of its operators. EIP-712 domain: "EscrowV0", "1", chain, this address.
///
/// Nonces: one bitmap per user. An order uses its nonce when it is funded by its user. A sponsor who is not the user (modes
/// 0x00 and 0x01) leaves the nonce alone, else strangers could spend it; so only the user opens a 0xe2 order, and of all
/// quotes of one nonce one is executed.
///
/// Operators sign and fill for an account and can never withdraw. They do decide prices and recipients: whoever steals an
/// operator key can sell the account's balance for nothing until the key is revoked, up to the operator's limits. With
/// `limitOperator` an operator spends at most `most` of a token in each window, counted where its signature or call pays an
/// output from the ledger (settle, fill, fillOrderOutputs, fillWithApprovals) or gives up an order's inputs (release, by the
/// whole of them). Two windows may follow each other without a pause. What the account itself signs or calls has no limit.
///
/// Following balances off chain: re-read `balanceOf` at a block in which Deposited, Withdrawn, Credited, Open, OutputFilled or
/// Finalised concerns the account; that of the fee recipient also after FeesCollected. There is no event per ledger entry.
/// WithdrawalRequested, OperatorSet, OperatorLimited and NonceInvalidated are complete.
///
/// Assumed of tokens: ERC-20, return value optional; a transfer moves what it says and moves nothing when it fails; balances
/// change by transfers alone (no rebasing, no fee switched on later for money already held); less than 2^128 base units exist.
/// Received amounts are measured: a token that takes a fee is credited net on deposit, and refused as an order's input or
/// output. A token that freezes this contract freezes what it holds of it.
/// Assumed of LPs: before filling for another chain they have seen the order open at depth, with an oracle and escrow they trust.
/// Assumed of oracles: one that calls a payload proven that was never filled gives the inputs away. The user signs its
/// address; this contract only asks it.
/// Assumed of fillers, recipients, wallets: nothing. While one of their calls runs, every function that moves balances is
/// locked, except that the filler of settleThrough may fill.
interface IEscrow is IEscrowBase, IAttester {
    /* ERRORS */

    /// @notice A call came back in while another one was running.
    error Reentered();
    /// @notice An amount, address, solver or list is zero or empty where that has no meaning.
    error ZeroValue();
    /// @notice A 32-byte word that has to be an address has other bits set, or is zero.
    error NotAnAddress(bytes32 word);
    /// @notice Nothing is deployed at this address.
    error NoCode(address account);
    /// @notice Nothing at this address answers balanceOf.
    error NotAToken(address token);
    /// @notice Outputs may not be paid to this, nor withdrawals.
    error InvalidRecipient(address recipient);
    /// @notice The order or output belongs to another chain.
    error WrongChain(uint256 expected, uint256 actual);
    /// @notice The output is for another contract to pay.
    error WrongSettler(bytes32 settler);
    /// @notice The order is not in the status this step starts from.
    error InvalidOrderStatus(bytes32 orderId, OrderStatus status);
    /// @notice It is too late.
    error DeadlinePassed(uint256 deadline, uint256 timestamp);
    /// @notice It is too early.
    error TooEarly(uint256 from, uint256 timestamp);
    /// @notice A 0xe2 order that names this escrow as its oracle is settled and never opened; only such an order is settled.
    error WrongOracle(address inputOracle);
    /// @notice fillDeadline and expires are closer than this step needs.
    error ProofWindowTooShort(uint256 window, uint256 minimum);
    /// @notice Two inputs of the same token.
    error DuplicateInput(address token);
    /// @notice Two outputs that differ at most in their oracle: one fill would prove both. The hash is that without the oracle.
    error DuplicateOutput(bytes32 fillHash);
    /// @notice The caller gave less gas than a refund's transfer is promised.
    error NotEnoughGas(uint256 promised);
    /// @notice An input is not exactly one where the funding mode needs that.
    error NotOneInput(uint256 inputs);
    /// @notice callbackData is longer than 65,535 bytes, the most a FillDescription holds.
    error TooLong(uint256 length);
    /// @notice The context's type or length is not one of those listed.
    error InvalidContext(bytes context);
    /// @notice Some outputs are 0xe2 and some are not.
    error MixedContexts();
    /// @notice This needs a 0xe2 order.
    error NotAQuote();
    /// @notice This is not for 0xe2 orders.
    error NotForQuotes();
    /// @notice The exclusive window of a 0xe2 output does not end with the order's fillDeadline.
    error WrongStartTime(uint256 startTime, uint256 fillDeadline);
    /// @notice Portions are zero or do not sum to 10,000.
    error InvalidPortions(uint256 sum);
    /// @notice Fees differ between outputs or are above MAX_FEE_BPS.
    error InvalidFee(uint256 feeBps);
    /// @notice An input is 2^128 or more.
    error AmountTooLarge(uint256 amount);
    /// @notice The fees of a slice are more than the slice.
    error FeesExceedSlice(uint256 fees, uint256 slice);
    /// @notice Output number `output` is not this escrow's to deliver and prove: it is of another chain, settler or oracle.
    error Unprovable(uint256 output);
    /// @notice A list is not as long as the list it goes with.
    error LengthMismatch(uint256 expected, uint256 actual);
    /// @notice The user's nonce has been used or invalidated.
    error NonceUsed(address user, uint256 nonce);
    /// @notice No such funding mode.
    error UnknownFundingMode(bytes1 mode);
    /// @notice The caller or sponsor has to be the user.
    error NotTheUser(address caller);
    /// @notice Not signed by whom it has to be.
    error InvalidSignature(address signer);
    /// @notice The commitment is not for this output or its deadline is not the order's.
    error WrongCommitment(address lp, uint32 deadline);
    /// @notice The ledger balance does not cover it.
    error InsufficientBalance(address account, address token, uint256 balance, uint256 needed);
    /// @notice The operator may spend no more than `left` of this token of the account now.
    error OperatorLimitExceeded(address operator, address token, uint256 left, uint256 needed);
    /// @notice A transfer arrived short.
    error ShortTransfer(address token, uint256 expected, uint256 received);
    /// @notice The output has been filled already.
    error AlreadyFilled(bytes32 orderId, bytes32 outputHash);
    /// @notice The output has not been filled by this solver at this time.
    error NotFilled(bytes32 orderId, bytes32 outputHash);
    /// @notice Only this solver may fill.
    error ExclusiveTo(bytes32 solver);
    /// @notice The output was filled after the deadline.
    error FilledTooLate(uint32 deadline, uint32 timestamp);
    /// @notice Only the order's owner may do this.
    error NotTheOwner(bytes32 owner);
    /// @notice The bytes are not the encoding they have to be: a FillDescription, or what the funding mode needs.
    error InvalidPayload();
    /// @notice There is no such request, it is not ripe, or it has lapsed.
    error NoWithdrawal(address account, address token);
    /// @notice No deferred delivery of this order and output is waiting: never made, paid, or kept.
    error NotDeferred(bytes32 orderId, bytes32 outputHash);
    /// @notice A constructor argument is out of range.
    error InvalidParameter();

    /* EVENTS */

    /// @notice `account` was credited `amount` (as measured) that `from` paid.
    event Deposited(address indexed account, address indexed token, address from, uint256 amount);
    /// @notice `amount` may be withdrawn from `availableAt` to `lapsesAt`, both included. Replaces any earlier request.
    event WithdrawalRequested(
        address indexed account, address indexed token, uint256 amount, uint256 availableAt, uint256 lapsesAt
    );
    /// @notice `amount` left the ledger to `to`. The request, if it was one, is gone, whatever was left of it.
    event Withdrawn(address indexed account, address indexed token, address to, uint256 amount);
    /// @notice `account` was credited outside a deposit: with a refund that could not be pushed, or by a ledger delivery.
    event Credited(address indexed account, address indexed token, uint256 amount);
    /// @notice The fees kept beside the account's balance went to that of the fee recipient.
    event FeesCollected(address indexed account, address indexed token, uint256 amount);
    /// @notice A deferred delivery waits no longer: `amount` of it went to the account's wallet (the Withdrawn just before says
    /// so too) and the rest had left the balance before; 0 when nothing was left or the account keeps it here.
    event DeferralEnded(
        bytes32 indexed orderId, bytes32 indexed outputHash, address indexed account, address token, uint256 amount
    );
    /// @notice `operator` may sign and fill for `account` without limits, or may no longer.
    event OperatorSet(address indexed account, address indexed operator, bool allowed);
    /// @notice `operator` may sign and fill for `account` within its limits, and this is the one for `token`.
    event OperatorLimited(
        address indexed account, address indexed operator, address indexed token, uint256 most, uint256 window
    );
    /// @notice `user` voided `nonce` without an order.
    event NonceInvalidated(address indexed user, uint256 nonce);
    /// @notice The order's inputs are in.
    event Open(bytes32 indexed orderId, StandardOrder order);
    /// @notice An output was delivered by `solver`.
    event OutputFilled(
        bytes32 indexed orderId, bytes32 solver, uint32 timestamp, MandateOutput output, uint256 finalAmount
    );
    /// @notice The inputs were paid out. Of a 0xe2 order: to ledger balances, both words being the first output's LP.
    event Finalised(bytes32 indexed orderId, bytes32 solver, bytes32 destination);
    /// @notice The inputs went back to the user.
    event Refunded(bytes32 indexed orderId);

    /// @notice The contract with the rest of this one's code: this one made it when it was deployed, and runs it on its own storage.
    function EXTENSION() external view returns (address);

    /* LEDGER */

    /// @notice Fees on the account's inputs that are not collected yet, base units. They are the fee recipient's, and no part of
    /// the account's balance.
    function feesOf(address account, address token) external view returns (uint256);
    /// @notice Moves the fees kept beside the account's balance into that of `feeRecipient`. Anyone may call.
    /// @return amount What they come to.
    function collectFees(address account, address token) external returns (uint256 amount);
    /// @notice The account's request, also when it has lapsed; all zero when there is none.
    function pendingWithdrawal(address account, address token)
        external
        view
        returns (uint256 amount, uint256 availableAt, uint256 lapsesAt);
    /// @notice Unix seconds at which an operator was revoked that has not been allowed again; 0 of every other address.
    function revokedAt(address account, address operator) external view returns (uint256);
    /// @notice What the account lets the operator spend of `token`.
    /// @return limited Whether limits count for this operator: then a token without one is not spent at all.
    /// @return most Base units in a window.
    /// @return window Seconds; 0 where no limit was set.
    /// @return since Unix seconds at which the last window began. It has ended at `since + window`.
    /// @return spent Base units spent in it.
    function operatorLimit(address account, address operator, address token)
        external
        view
        returns (bool limited, uint256 most, uint256 window, uint256 since, uint256 spent);
    /// @notice Base units of `token` that the operator may spend of the account now; the largest number when no limits count.
    function operatorLeft(address account, address operator, address token) external view returns (uint256 left);

    /// @notice Pays `amount` from the caller, who has approved this contract, into the caller's balance.
    /// @return received What arrived and was credited.
    function deposit(address token, uint256 amount) external returns (uint256 received);
    /// @notice The same into the balance of `account`.
    function depositFor(address account, address token, uint256 amount) external returns (uint256 received);
    /// @notice Starts the delay for `amount` of the caller's balance, replacing any earlier request; 0 cancels. The amount goes
    /// on paying for what is signed; whoever relies on the balance counts it as gone from now on.
    function requestWithdrawal(address token, uint256 amount) external;
    /// @notice Pays the caller's ripe request to `to`, or what is left of the balance when that is less.
    /// @return amount What was paid.
    function withdraw(address token, address to) external returns (uint256 amount);
    /// @notice Pushes a ripe deferred delivery to its account's own wallet, as far as the balance covers it. Anyone may call, once;
    /// reverts when the token does.
    /// @return amount What was paid.
    function withdrawDeferred(bytes32 orderId, MandateOutput calldata output) external returns (uint256 amount);
    /// @notice Called by its account: a deferred delivery stays in the balance for good, like one that was not deferred.
    function keepDeferred(bytes32 orderId, MandateOutput calldata output) external;
    /// @notice Names an operator of the caller that has no limits, or revokes an operator with all its limits, at once. An
    /// operator is an EOA; an account with code may sign by ERC-1271 instead.
    function setOperator(address operator, bool allowed) external;
    /// @notice Names an operator of the caller that spends within limits, and sets its limit for one token, at once. What it has
    /// spent in the running window goes on counting. Limits that were set before a revocation hold again.
    /// @param most Base units that it may spend in a window; 0: none.
    /// @param window Seconds, from its first spending after the last window; not 0, which would be a limit for each payment.
    function limitOperator(address operator, address token, uint96 most, uint32 window) external;

    /* NONCES */

    /// @notice Voids one of the caller's nonces, and with it whatever was signed under it.
    function invalidateNonce(uint256 nonce) external;

    /* ORDERS */

    /// @notice The order's id on this escrow.
    function orderIdentifier(StandardOrder calldata order) external view returns (bytes32);
    /// @notice Reverts, as `settle` does, when nobody can settle this order now whatever its LPs do: its form, time, status, nonce,
    /// fees, and where its outputs go. Not asked: its funding, its commitments, and tokens.
    function checkSettle(StandardOrder calldata order) external view returns (bytes32 orderId);
    /// @notice Whose key signed, by the rule for commitments, approvals and releases: the struct itself, or a tree that holds it.
    /// @return digest What is signed in this escrow's domain when it is the struct itself.
    /// @return key Zero when the bytes are no signature.
    function signerOf(bytes32 structHash, bytes calldata signature) external view returns (bytes32 digest, address key);
    /// @notice Unix seconds at which the order was opened; 0 of an order that was not, or that was settled.
    function openedAt(bytes32 orderId) external view returns (uint256);

    /// @notice Same chain, from inventory, in one transaction: takes the inputs, pays every output from its LP's ledger balance,
    /// credits the inputs to the LPs. Anyone may call. Until fillDeadline, that second included. The order is 0xe2 and names this
    /// escrow as its oracle, here and in `settleThrough`.
    /// @param commitments One per output, in their order. A commitment covers every output of the order that names its LP.
    function settle(StandardOrder calldata order, bytes calldata funding, Commitment[] calldata commitments) external;

    /// @notice Same chain, without inventory, in one transaction: takes the inputs, hands them less fees to `filler`, calls
    /// `filler.fillThrough` and requires that it filled every output meanwhile. Anyone may call, whoever `exclusiveFor` allows
    /// being the filler.
    function settleThrough(StandardOrder calldata order, bytes calldata funding, address filler, bytes calldata data)
        external;

    /// @notice Takes the inputs from the caller, who is the order's user. Before fillDeadline.
    function open(StandardOrder calldata order) external;
    /// @notice Takes the inputs from `sponsor` in the way the first byte of `signature` says. Before fillDeadline. Not for a 0xe2
    /// order that names this escrow as its oracle. The sponsor of any other 0xe2 order is its user.
    function openFor(StandardOrder calldata order, address sponsor, bytes calldata signature) external;

    /// @notice Delivers one output. Paid from the solver's ledger balance when the caller is the solver or its operator and that
    /// balance covers it, else by the caller, who has approved this contract. Delivers nothing when the output is filled
    /// already.
    /// @dev The caller vouches for `orderId` and, but for 0xe2 outputs, for `fillDeadline`: this chain cannot see the order. Fill
    /// only what you have seen open at depth on its origin.
    /// @param fillerData The solver, 32 bytes.
    /// @return record The fill record: ours, or the earlier one.
    function fill(bytes32 orderId, MandateOutput calldata output, uint48 fillDeadline, bytes calldata fillerData)
        external
        returns (bytes32 record);
    /// @notice Delivers several outputs for one solver, paid like `fill`. Reverts when the first was filled before; passes over
    /// others that were.
    function fillOrderOutputs(
        bytes32 orderId,
        MandateOutput[] calldata outputs,
        uint48 fillDeadline,
        bytes calldata fillerData
    ) external;
    /// @notice Delivers several 0xe2 outputs, each from its own LP's ledger balance by that LP's approval, or none. Anyone may
    /// call. Reverts when any was filled before.
    function fillWithApprovals(
        bytes32 orderId,
        MandateOutput[] calldata outputs,
        uint48 fillDeadline,
        Approval[] calldata approvals
    ) external;

    /// @notice Pays the inputs out once every output is proven: an output of this chain by its record here, any other by the
    /// order's oracle. A 0xe2 order: anyone calls, LPs are credited, `destination` is ignored and `call` empty. A plain
    /// order: the solver of the first output calls and the inputs go to `destination`, with `orderFinalised` called on it when
    /// `call` is not empty. Possible after `expires` until somebody refunds.
    /// @param solveParams One per output, in their order.
    function finalise(
        StandardOrder calldata order,
        SolveParams[] calldata solveParams,
        bytes32 destination,
        bytes calldata call
    ) external;
    /// @notice The same for a plain order by anyone with the owner's signature over
    /// `AllowOpen(bytes32 orderId,bytes32 destination,bytes call)`.
    function finaliseWithSignature(
        StandardOrder calldata order,
        SolveParams[] calldata solveParams,
        bytes32 destination,
        bytes calldata call,
        bytes calldata orderOwnerSignature
    ) external;

    /// @notice After `expires`: gives the inputs back to the user. Anyone may call, with at least 620,000 gas per input to give. What
    /// a token refuses to move, or does not move with 600,000 gas, is credited to the user's ledger balance.
    function refund(StandardOrder calldata order) external;
    /// @notice The same at any time for a 0xe2 order whose LPs all agree.
    /// @param signatures One per output, in their order, over `Release(bytes32 orderId)`.
    function release(StandardOrder calldata order, bytes[] calldata signatures) external;
}
