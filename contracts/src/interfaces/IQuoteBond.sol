// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Commitment, StandardOrder} from "./IEscrow.sol";

/// @notice Why an LP's promise could not be kept.
/// @param Balance Its ledger balance in the escrow is less than the output.
/// @param Limit The limit of the operator that signed leaves less than the output.
/// @param Revoked The operator that signed was revoked afterwards.
/// @param Unfilled An order across chains was opened in time, not filled, and refunded.
enum Fade {
    Balance,
    Limit,
    Revoked,
    Unfilled
}

/// @title IQuoteBond
/// @notice Money that LPs leave here to answer for their commitments to orders of one escrow. When a promise fails and the chain can
/// see that the LP made it fail, its taker is paid out of it. One per escrow, no owner, no upgrade, no pause. UNAUDITED.
///
/// What a claim costs: `SHARE_BPS` of what was promised, twice, and at most the bond. Half of the cost (the odd unit with it) goes
/// to the order's user. The other half goes to `FORFEIT_TO`: an LP that claims against itself, to have its bond back before
/// others claim, loses half of it. A claim is made once for each user, nonce and LP, and only for an order that the user signed or
/// opened: so nobody else uses it up.
///
/// On one chain (`claim`, `settleOrClaim`): order, the user's signature and the LP's commitment are shown while the order could still
/// be settled, and one of the first three reasons of {Fade} holds of all outputs of the LP together, delivered in their
/// order: what another LP of the order delivers into the LP's balance before counts. What nobody could settle is not
/// covered: `claim` asks the escrow. Whoever has promised no more than its balance and its operator's limit, and revokes an
/// operator after the deadlines of what it signed, cannot be claimed against: both fall by the LP's own signatures and
/// calls alone. Tokens that pause or refuse are no reason. What the LP traded away is no excuse.
///
/// Across chains (`claimUnfilled`): the order was refunded on this chain, its origin, and was opened at least the LP's `fillWindow`
/// before its fillDeadline. This chain cannot see why it was not filled, so the LP says by `setTerms` what it answers for: nothing
/// (no fillWindow), deliveries into the escrow's ledger, which no token and no recipient can refuse, or those to wallets
/// too, with the token's refusals at the LP's risk. Never covered: outputs that call their recipient, which can refuse as
/// it likes, and orders of several outputs, where another LP may be the one who failed. Who released an order has not filled
/// it. An oracle that does not prove a fill before `expires` costs the LP the inputs, and then this too; a destination
/// that makes no blocks costs it this.
///
/// Not covered at all: a quote whose taker has not signed, or shows it too late; what a commitment signed by a contract (ERC-1271)
/// promises once that contract refuses its own signature; any loss above the share.
///
/// Stolen keys: whoever has an operator's key can sign more than the LP holds, and claim. A stolen key costs the bond, of which
/// the thief gets half, beside what its limits allow. After it is revoked it signs nothing more that counts, but for
/// deadlines within the escrow's WITHDRAWAL_DELAY: until then it may have signed before.
///
/// Assumed of tokens, as of the escrow's: see {IEscrow}.
interface IQuoteBond {
    /* ERRORS */

    /// @notice A call came back in while another one was running.
    error Reentered();
    /// @notice An amount is zero where that has no meaning.
    error ZeroValue();
    /// @notice Nothing may be paid to this, nor posted for it.
    error InvalidRecipient(address recipient);
    /// @notice A constructor argument is out of range.
    error InvalidParameter();
    /// @notice The bond is smaller than what is asked for.
    error InsufficientBond(address lp, address token, uint256 bond, uint256 needed);
    /// @notice It is too early.
    error TooEarly(uint256 from, uint256 timestamp);
    /// @notice The LP has no bond in any token that it promised, or the share of what it promised is less than one base unit.
    error NothingToPay(address lp);
    /// @notice Nothing is there to take.
    error NothingOwed(address account, address token);
    /// @notice The order is of another chain, escrow or kind than this claim is about.
    error WrongOrder(bytes32 orderId);
    /// @notice The commitment is for no output of the order, its deadline is not the order's, or this LP did not sign it.
    error NotCommitted(address lp);
    /// @notice The user has not accepted this order.
    error NotAccepted(address user);
    /// @notice The order was never opened, or its inputs were paid out.
    error OrderEnded(bytes32 orderId);
    /// @notice The order can be settled as far as this LP is concerned.
    error PromiseStands(address lp);
    /// @notice The LP's terms do not cover this order, or it was opened too late.
    error NotCovered(address lp);
    /// @notice This user has had a claim against this LP by this nonce.
    error ClaimedBefore(address user, uint256 nonce, address lp);

    /* EVENTS */

    event Posted(address indexed lp, address indexed token, address indexed from, uint256 amount);
    /// @notice `amount` may leave from `availableAt` on; 0 of both when the request was withdrawn.
    event TakeBackRequested(address indexed lp, address indexed token, uint256 amount, uint256 availableAt);
    event TakenBack(address indexed lp, address indexed token, address to, uint256 amount);
    /// @notice Counts from `activeFrom` on.
    event TermsSet(address indexed lp, uint32 fillWindow, bool wallets, uint256 activeFrom);
    /// @notice A promise failed.
    /// @param promised What the LP's outputs in this token come to; across chains the input's amount.
    /// @param paid What the user got.
    /// @param forfeited What FORFEIT_TO got.
    event Faded(
        address indexed lp,
        address indexed user,
        bytes32 indexed orderId,
        bytes32 quoteId,
        Fade reason,
        address token,
        uint256 promised,
        uint256 paid,
        uint256 forfeited
    );
    event OwedTaken(address indexed account, address indexed token, address to, uint256 amount);

    /* PARAMETERS */

    function ESCROW() external view returns (address);
    /// @notice Whoever gets the other half of what a claim costs, from `owed`.
    function FORFEIT_TO() external view returns (address);
    /// @notice Share of what was promised that the user is paid, in ten-thousandths.
    function SHARE_BPS() external view returns (uint256);
    /// @notice Seconds between a request to take back and taking back: longer than any quote lives, with time to claim.
    function TAKE_BACK_DELAY() external view returns (uint256);

    /* THE BOND */

    /// @notice Adds to the bond of `lp`, from the caller.
    /// @return received What was measured to have come in.
    function post(address lp, address token, uint256 amount) external returns (uint256 received);
    /// @notice Asks to take this much of the caller's bond out, instead of what it asked for before; 0 withdraws the request. It
    /// pays claims until it has left. Whoever relies on a bond counts it as gone from now on.
    function requestTakeBack(address token, uint256 amount) external;
    /// @notice Takes out what was asked for, up to what is left of the bond.
    function takeBack(address token, address to) external returns (uint256 amount);
    /// @return amount All that pays claims.
    /// @return leaving What of it has been asked for; at most the amount.
    /// @return availableAt Unix seconds from when that may leave.
    function bondOf(address lp, address token)
        external
        view
        returns (uint256 amount, uint256 leaving, uint256 availableAt);

    /// @notice What the caller answers for across chains. The first terms count at once, later ones after TAKE_BACK_DELAY: nobody
    /// gets out of what it has signed.
    /// @param fillWindow Seconds before fillDeadline at which an order must be open, so that the LP sees it at depth and fills it. 0:
    /// no order across chains is covered.
    /// @param wallets Whether deliveries outside the ledger are covered.
    function setTerms(uint32 fillWindow, bool wallets) external;
    /// @return fillWindow As in force now.
    /// @return wallets As in force now.
    function termsOf(address lp) external view returns (uint32 fillWindow, bool wallets);

    /* CLAIMS */

    /// @notice Same chain. Anyone may call. Reverts while the order can be settled as far as this LP is concerned, and with the
    /// escrow's own error when nobody can settle it whatever the LP does: its form, time, nonce or status.
    /// @param signature The user's over the order, as for `settle`; may be empty when the user calls.
    /// @param commitment It promises all outputs that name its LP, so one claim is for all of them.
    /// @return paid What the user got, by output: for the sum of a token at the LP's first output in it.
    function claim(StandardOrder calldata order, bytes calldata signature, Commitment calldata commitment)
        external
        returns (uint256[] memory paid);
    /// @notice Same chain. Settles the order; when that fails, claims from each of its LPs that has not been claimed from and
    /// fails its promise, in the same transaction. So a promise broken in its last block costs as much as any other. Anyone
    /// may call. Reverts with the error of `settle` when no claim pays either.
    /// @param funding As for `settle`; not mode 0xff, because this contract calls.
    /// @param signature The user's over the order; may be empty when the user calls.
    /// @param commitments One per output, as for `settle`.
    /// @return settled Whether the order was settled; then nothing is paid here.
    /// @return paid As for `claim`, over all LPs.
    function settleOrClaim(
        StandardOrder calldata order,
        bytes calldata funding,
        bytes calldata signature,
        Commitment[] calldata commitments
    ) external returns (bool settled, uint256[] memory paid);
    /// @notice Across chains, on the origin. Anyone may call, from the order's `expires` on or after its release. Refunds the order
    /// when nobody has.
    /// @return paid What the user got, per input in its token.
    function claimUnfilled(StandardOrder calldata order, Commitment calldata commitment)
        external
        returns (uint256[] memory paid);
    function isClaimed(address user, uint256 nonce, address lp) external view returns (bool);

    /// @notice What could not be pushed to an account, and what was forfeited to it.
    function owed(address account, address token) external view returns (uint256);
    /// @notice Takes all of the caller's `owed`.
    function takeOwed(address token, address to) external returns (uint256 amount);
}
