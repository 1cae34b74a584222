// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title ILpAccount
/// @notice The account of an LP in the ledger of one escrow, made so that software can move its inventory between its own places:
/// ledger, bond, this contract, and the contract at the same address on another chain. One address on every chain: CREATE2
/// through the deterministic deployer, whose creation code holds nothing but the first owner. No upgrade, no delegatecall, no
/// call but those listed here. UNAUDITED.
///
/// Roles
/// - Owner: names the others and sets their limits. Takes money out to the treasury, and nowhere else.
/// - Operators: keys that the escrow recovers itself. They sign and fill within limits that the escrow counts.
/// - Mover: one key. Takes money out of the ledger and back, posts bond, and sends to this address on other chains by listed
///   routes, within a limit per token and day.
/// - Treasury: the one foreign address that money leaves to. It does nothing here.
///
/// Changes. What narrows counts at once. What widens is scheduled first, as the calldata of the call that will make it, and waits
/// CHANGE_DELAY; everybody sees it meanwhile and the owner can cancel it. CHANGE_WINDOW later it lapses. Widening are: a new
/// owner, mover or treasury; an operator that is none now, or whose limit gets larger, its window shorter, or has none from
/// then on; a larger limit of the mover; a route that is not listed, or not to this bridge, or with a larger fee. During the
/// set-up, from `initialize` until `finishSetup` and at most SETUP_TIME, nothing waits.
///
/// Limits of the mover. For each token one amount bounds two sums of each day (UTC): what is requested from the ledger, and what is
/// sent or posted as bond. Two sums, because one move is in both. A request counts in full whether it is withdrawn or not: from it
/// on the amount is gone for takers. Two days may follow each other, so twice the limit may go within an hour.
///
/// Signatures. {isValidSignature} accepts nothing. The escrow recovers operators by itself, and would not count the limit of one
/// that this contract vouched for. An owner's signature would act at once, unseen, for any amount and to any recipient: a
/// commitment to an order that was made up, the release of an order that was filled, or the order of a taker. All that may be
/// signed for an LP, an operator signs. So tokens and Permit2 take no permit of this account either.
///
/// When the owner's key is stolen: its holder can make nothing wider without CHANGE_DELAY, but can cancel what the owner does. So
/// the owner calls `close`. From then on nothing widens any more, and everybody may bring the money to the treasury.
///
/// Assumed of tokens: what {IEscrow} assumes. Of listed bridges: what was taken arrives at this address on the other chain,
/// less at most the fee. A bridge that lies costs what was approved to it, which is within the limit of the mover.
/// Assumed of the chains behind routes: CREATE2 gives the same addresses as here. Deploy there before the owner changes: there
/// the first owner is the owner.
interface ILpAccount {
    /* ERRORS */

    /// @notice A call came back in while another one was running.
    error Reentered();
    /// @notice Only the owner may do this, or the one that was offered to be it.
    error NotTheOwner(address caller);
    /// @notice Only the mover may do this, or only the mover and the owner.
    error NotTheMover(address caller);
    /// @notice An address, amount or fee has no meaning here.
    error InvalidParameter();
    /// @notice The escrow has been named, and stays.
    error InitialisedBefore();
    /// @notice The change has not been scheduled, was cancelled or made, or has lapsed.
    error NotScheduled(bytes32 id);
    /// @notice It is too early.
    error TooEarly(uint256 from, uint256 timestamp);
    /// @notice The account is closed, and nothing widens.
    error AccountClosed();
    /// @notice The mover may move no more than `left` of this token today.
    error MoverLimitExceeded(address token, uint256 left, uint256 needed);
    /// @notice The route is not listed.
    error NoRoute(address asset, uint32 destination);
    /// @notice The route's fee is at most `most` for this amount.
    error FeeTooHigh(uint256 most, uint256 fee);
    /// @notice The last request has not been taken out yet.
    error RequestPending(address token);
    /// @notice The treasury did not take the native currency.
    error NotTaken(address to);

    /* EVENTS */

    event Initialised(address indexed escrow, address indexed bond, uint256 setupEndsAt);
    event SetupFinished();
    /// @notice The owner may make this call from `availableAt` until `lapsesAt`, both included.
    event ChangeScheduled(bytes32 indexed id, bytes change, uint256 availableAt, uint256 lapsesAt);
    event ChangeCancelled(bytes32 indexed id);
    /// @notice What was scheduled happened, in this transaction.
    event ChangeMade(bytes32 indexed id);
    event OwnerOffered(address indexed to);
    event OwnerChanged(address indexed owner);
    event TreasuryChanged(address indexed treasury);
    event MoverChanged(address indexed mover);
    event MoverLimited(address indexed token, uint256 most);
    /// @notice Zero of `messenger`: the route is not listed any more.
    event CctpRouteSet(address indexed token, uint32 indexed domain, address messenger, uint256 feeBps);
    /// @notice Zero of `token`: the route is not listed any more.
    event OftRouteSet(address indexed oft, uint32 indexed eid, address token, uint256 feeBps);
    /// @notice Sent to this address behind `destination`, a domain of CCTP or an endpoint id of LayerZero.
    event Sent(address indexed token, address indexed bridge, uint32 indexed destination, uint256 amount, uint256 mostFee);
    event TakenToTreasury(address indexed token, address indexed treasury, uint256 amount);
    event NativeTakenToTreasury(address indexed treasury, uint256 amount);
    event Closed();

    /* PARAMETERS */

    /// @notice Seconds that a widening change waits: time to notice it and to answer. A withdrawal from the escrow takes less.
    function CHANGE_DELAY() external view returns (uint256);
    /// @notice Seconds for which a ripe change stays.
    function CHANGE_WINDOW() external view returns (uint256);
    /// @notice Most seconds of the set-up.
    function SETUP_TIME() external view returns (uint256);
    function owner() external view returns (address);
    /// @notice Who may accept to be the owner; zero: nobody.
    function pendingOwner() external view returns (address);
    function escrow() external view returns (address);
    /// @notice The escrow's bond contract; zero: none.
    function bond() external view returns (address);
    function mover() external view returns (address);
    function treasury() external view returns (address);
    /// @notice Unix seconds until which nothing waits; zero before `initialize`.
    function setupEndsAt() external view returns (uint256);
    function closed() external view returns (bool);
    /// @notice Unix seconds from when on the owner may make the call whose calldata hashes to `id`; zero: it is not scheduled.
    function availableAt(bytes32 id) external view returns (uint256);
    /// @return most Base units per day; 0: none.
    /// @return requested From the ledger, today.
    /// @return sent Or posted as bond, today.
    function moverLimit(address token) external view returns (uint256 most, uint256 requested, uint256 sent);
    /// @return messenger Zero: not listed.
    /// @return feeBps Most that is left on the way, in ten-thousandths.
    function cctpRoute(address token, uint32 domain) external view returns (address messenger, uint16 feeBps);
    /// @return token What `oft` moves here; zero: not listed.
    /// @return feeBps Most that is left on the way, in ten-thousandths.
    function oftRoute(address oft, uint32 eid) external view returns (address token, uint16 feeBps);

    /* OWNER */

    /// @notice Names escrow and bond for good, and begins the set-up. `bond_` may be zero.
    function initialize(address escrow_, address bond_) external;
    /// @notice Ends the set-up.
    function finishSetup() external;
    /// @notice Announces a call of the owner that widens, by its calldata. Announced again, it waits from now on.
    function schedule(bytes calldata change) external;
    function cancel(bytes32 id) external;
    /// @notice Offers the account to another owner, who has to accept; zero takes the offer back.
    function transferOwnership(address to) external;
    function acceptOwnership() external;
    function setTreasury(address to) external;
    /// @notice Zero: nobody moves.
    function setMover(address to) external;
    /// @param most Base units of each day and sum.
    function setMoverLimit(address token, uint128 most) external;
    /// @param messenger TokenMessengerV2; zero takes the route off the list.
    function setCctpRoute(address token, uint32 domain, address messenger, uint16 feeBps) external;
    /// @param token What `oft` moves, itself or another; zero takes the route off the list.
    function setOftRoute(address oft, uint32 eid, address token, uint16 feeBps) external;
    /// @notice {IEscrow-setOperator}, as this account.
    function setOperator(address operator, bool allowed) external;
    /// @notice {IEscrow-limitOperator}, as this account.
    function limitOperator(address operator, address token, uint96 most, uint32 window) external;
    /// @notice {IQuoteBond-setTerms}, as this account.
    function setBondTerms(uint32 fillWindow, bool wallets) external;
    /// @notice {IQuoteBond-requestTakeBack}, as this account. When closed: anybody, everything, one request after the other.
    function requestTakeBack(address token, uint256 amount) external;
    /// @notice Out of what lies on this contract. When closed: anybody, everything.
    function takeToTreasury(address token, uint256 amount) external;
    /// @notice Native currency that lies on this contract. When closed: anybody, everything.
    function takeNativeToTreasury(uint256 amount) external;
    /// @notice Ends the account for good, see above. It needs a treasury.
    function close() external;

    /* MOVER AND OWNER */

    /// @notice {IEscrow-requestWithdrawal}, as this account. The owner has no limit. When closed: anybody, everything, one request
    /// after the other.
    function requestWithdrawal(address token, uint256 amount) external;
    /// @notice Brings what was requested from the ledger onto this contract. When closed: anybody.
    function withdraw(address token) external returns (uint256 amount);
    /// @notice Brings what lies on this contract into its ledger balance. No limit: it stays its own.
    /// @param amount The largest number: everything.
    function deposit(address token, uint256 amount) external returns (uint256 received);
    /// @notice Brings bond that was requested back onto this contract. When closed: anybody.
    function takeBack(address token) external returns (uint256 amount);

    /* MOVER */

    /// @notice Posts bond of this account. Counted as sent, because a bond pays claims.
    function postBond(address token, uint256 amount) external returns (uint256 received);
    /// @notice Burns here for minting at this address in the other domain. Anyone may deliver the message there.
    /// @param maxFee Base units that may be missing there.
    /// @param minFinality 1,000: when confirmed. 2,000: when final.
    function sendByCctp(address token, uint32 domain, uint256 amount, uint256 maxFee, uint32 minFinality) external;
    /// @notice Sends to this address behind the other endpoint. Native currency that comes along pays the messages; what is left
    /// of it goes back to the caller.
    /// @param leastReceived Base units that have to arrive.
    function sendByOft(address oft, uint32 eid, uint256 amount, uint256 leastReceived) external payable;
}
