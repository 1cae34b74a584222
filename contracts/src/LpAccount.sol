// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

import {IOft, ITokenMessengerV2} from "./interfaces/IBridges.sol";
import {IEscrow} from "./interfaces/IEscrow.sol";
import {ILpAccount} from "./interfaces/ILpAccount.sol";
import {IQuoteBond} from "./interfaces/IQuoteBond.sol";
import {DayLimit, DayLimitLib} from "./libraries/DayLimitLib.sol";
import {TokenLib} from "./libraries/TokenLib.sol";

/// @title LpAccount
/// @notice See {ILpAccount}, which is the manual. Unaudited.
/// @dev Nothing here depends on the chain: no immutables, so that creation code and address are the same on all of them.
contract LpAccount is ILpAccount, IERC1271 {
    using DayLimitLib for DayLimit;
    using SafeERC20 for IERC20;
    using TokenLib for address;

    uint256 private constant BPS = 10_000;

    uint256 public constant CHANGE_DELAY = 2 days;
    uint256 public constant CHANGE_WINDOW = 7 days;
    uint256 public constant SETUP_TIME = 1 days;

    /// @dev `via` is the messenger of a CCTP route, and the token of an OFT route.
    struct Route {
        address via;
        uint16 feeBps;
    }

    address public owner;
    address public pendingOwner;
    address public escrow;
    address public bond;
    address public mover;
    address public treasury;
    uint256 public setupEndsAt;
    bool public closed;

    mapping(bytes32 id => uint256) public availableAt;
    mapping(address token => DayLimit) private _limits;
    mapping(address token => mapping(uint32 domain => Route)) public cctpRoute;
    mapping(address oft => mapping(uint32 eid => Route)) public oftRoute;

    bool private transient _locked;

    constructor(address owner_) {
        if (owner_ == address(0)) revert InvalidParameter();
        owner = owner_;
        emit OwnerChanged(owner_);
    }

    /// @dev Anyone may leave native currency here; only the treasury gets it.
    receive() external payable {}

    modifier locked() {
        if (_locked) revert Reentered();
        _locked = true;
        _;
        _locked = false;
    }

    /* WHO MAY */

    function _requireOwner() private view {
        if (msg.sender != owner) revert NotTheOwner(msg.sender);
    }

    /// @param widens Whether the call has to have been scheduled, unless it is part of the set-up.
    function _requireOwner(bool widens) private {
        _requireOwner();
        if (!widens) return;
        if (closed) revert AccountClosed();
        if (block.timestamp < setupEndsAt) return;
        bytes32 id = keccak256(msg.data);
        uint256 from = availableAt[id];
        if (from == 0 || block.timestamp > from + CHANGE_WINDOW) revert NotScheduled(id);
        if (block.timestamp < from) revert TooEarly(from, block.timestamp);
        availableAt[id] = 0;
        emit ChangeMade(id);
    }

    function _requireMover() private view {
        if (msg.sender != mover) revert NotTheMover(msg.sender);
    }

    function _requireMoverOrOwner() private view {
        if (msg.sender != owner) _requireMover();
    }

    /* CHANGES */

    function initialize(address escrow_, address bond_) external {
        _requireOwner();
        if (escrow != address(0)) revert InitialisedBefore();
        if (escrow_.code.length == 0) revert InvalidParameter();
        if (bond_ != address(0) && IQuoteBond(bond_).ESCROW() != escrow_) revert InvalidParameter();
        // It may have been named before: neither gives back what is sent to it.
        if (treasury != address(0) && (treasury == escrow_ || treasury == bond_)) revert InvalidParameter();
        escrow = escrow_;
        bond = bond_;
        setupEndsAt = block.timestamp + SETUP_TIME;
        emit Initialised(escrow_, bond_, setupEndsAt);
    }

    function finishSetup() public {
        _requireOwner();
        if (block.timestamp < setupEndsAt) setupEndsAt = block.timestamp;
        emit SetupFinished();
    }

    function schedule(bytes calldata change) external {
        _requireOwner();
        bytes32 id = keccak256(change);
        uint256 from = block.timestamp + CHANGE_DELAY;
        availableAt[id] = from;
        emit ChangeScheduled(id, change, from, from + CHANGE_WINDOW);
    }

    function cancel(bytes32 id) external {
        _requireOwner();
        if (availableAt[id] == 0) revert NotScheduled(id);
        availableAt[id] = 0;
        emit ChangeCancelled(id);
    }

    function transferOwnership(address to) external {
        _requireOwner(to != address(0));
        pendingOwner = to;
        emit OwnerOffered(to);
    }

    function acceptOwnership() external {
        if (msg.sender != pendingOwner) revert NotTheOwner(msg.sender);
        owner = msg.sender;
        pendingOwner = address(0);
        emit OwnerChanged(msg.sender);
    }

    function setTreasury(address to) external {
        _requireOwner(to != treasury);
        if (to == address(0) || to == address(this) || to == escrow || to == bond) revert InvalidParameter();
        treasury = to;
        emit TreasuryChanged(to);
    }

    function setMover(address to) external {
        _requireOwner(to != address(0) && to != mover);
        mover = to;
        emit MoverChanged(to);
    }

    function setMoverLimit(address token, uint128 most) external {
        _requireOwner(most > _limits[token].most);
        _limits[token].most = most;
        emit MoverLimited(token, most);
    }

    function setCctpRoute(address token, uint32 domain, address messenger, uint16 feeBps) external {
        _setRoute(cctpRoute[token][domain], messenger, feeBps);
        emit CctpRouteSet(token, domain, messenger, feeBps);
    }

    function setOftRoute(address oft, uint32 eid, address token, uint16 feeBps) external {
        _setRoute(oftRoute[oft][eid], token, feeBps);
        emit OftRouteSet(oft, eid, token, feeBps);
    }

    function _setRoute(Route storage route, address via, uint16 feeBps) private {
        _requireOwner(via != address(0) && (via != route.via || feeBps > route.feeBps));
        if (feeBps > BPS) revert InvalidParameter();
        (route.via, route.feeBps) = (via, feeBps);
    }

    function setOperator(address operator, bool allowed) external {
        _requireOwner(allowed);
        IEscrow(escrow).setOperator(operator, allowed);
    }

    /// @dev Of a key that is no operator now, a limit of zero widens too: limits of other tokens from before hold again.
    function limitOperator(address operator, address token, uint96 most, uint32 window) external {
        (bool limited, uint256 mostNow, uint256 windowNow,,) =
            IEscrow(escrow).operatorLimit(address(this), operator, token);
        bool narrows = limited
            ? most <= mostNow && window >= windowNow
            : IEscrow(escrow).isOperator(address(this), operator);
        _requireOwner(!narrows);
        IEscrow(escrow).limitOperator(operator, token, most, window);
    }

    function close() external {
        if (treasury == address(0)) revert InvalidParameter();
        finishSetup();
        closed = true;
        mover = address(0);
        pendingOwner = address(0);
        emit Closed();
    }

    /* LEDGER AND BOND */

    function requestWithdrawal(address token, uint256 amount) external locked {
        if (closed) {
            // Else anybody could begin the delay of a request again, and for ever.
            (uint256 asked,, uint256 lapsesAt) = IEscrow(escrow).pendingWithdrawal(address(this), token);
            if (asked != 0 && block.timestamp <= lapsesAt) revert RequestPending(token);
            amount = IEscrow(escrow).balanceOf(address(this), token);
        } else if (msg.sender != owner) {
            _requireMover();
            DayLimit storage limit = _limits[token].today(block.timestamp);
            limit.requested = DayLimitLib.counted(token, limit.most, limit.requested, amount);
        }
        IEscrow(escrow).requestWithdrawal(token, amount);
    }

    function withdraw(address token) external locked returns (uint256) {
        if (!closed) _requireMoverOrOwner();
        return IEscrow(escrow).withdraw(token, address(this));
    }

    function deposit(address token, uint256 amount) external locked returns (uint256 received) {
        // Else the thief of the owner's key could bring back what is on its way to the treasury.
        if (closed) revert AccountClosed();
        _requireMoverOrOwner();
        if (amount == type(uint256).max) amount = token.holding(address(this));
        IERC20(token).forceApprove(escrow, amount);
        received = IEscrow(escrow).deposit(token, amount);
        IERC20(token).forceApprove(escrow, 0);
    }

    function postBond(address token, uint256 amount) external locked returns (uint256 received) {
        _requireMover();
        _countSent(token, amount);
        IERC20(token).forceApprove(bond, amount);
        received = IQuoteBond(bond).post(address(this), token, amount);
        IERC20(token).forceApprove(bond, 0);
    }

    function setBondTerms(uint32 fillWindow, bool wallets) external {
        _requireOwner();
        IQuoteBond(bond).setTerms(fillWindow, wallets);
    }

    function requestTakeBack(address token, uint256 amount) external locked {
        if (closed) {
            uint256 leaving;
            (amount, leaving,) = IQuoteBond(bond).bondOf(address(this), token);
            if (leaving != 0) revert RequestPending(token);
        } else {
            _requireOwner();
        }
        IQuoteBond(bond).requestTakeBack(token, amount);
    }

    function takeBack(address token) external locked returns (uint256) {
        if (!closed) _requireMoverOrOwner();
        return IQuoteBond(bond).takeBack(token, address(this));
    }

    /* OTHER CHAINS */

    function sendByCctp(address token, uint32 domain, uint256 amount, uint256 maxFee, uint32 minFinality)
        external
        locked
    {
        _requireMover();
        address messenger = cctpRoute[token][domain].via;
        if (messenger == address(0)) revert NoRoute(token, domain);
        _countSent(token, amount);
        _requireFee(amount, maxFee, cctpRoute[token][domain].feeBps);
        IERC20(token).forceApprove(messenger, amount);
        ITokenMessengerV2(messenger).depositForBurn(amount, domain, _self(), token, 0, maxFee, minFinality);
        IERC20(token).forceApprove(messenger, 0);
        emit Sent(token, messenger, domain, amount, maxFee);
    }

    /// @dev The token is that of the list: an OFT that names another one later gets nothing of it.
    function sendByOft(address oft, uint32 eid, uint256 amount, uint256 leastReceived) external payable locked {
        _requireMover();
        address token = oftRoute[oft][eid].via;
        if (token == address(0)) revert NoRoute(oft, eid);
        _countSent(token, amount);
        uint256 fee = leastReceived < amount ? amount - leastReceived : 0;
        _requireFee(amount, fee, oftRoute[oft][eid].feeBps);
        IERC20(token).forceApprove(oft, amount);
        IOft(oft).send{value: msg.value}(
            IOft.SendParam(eid, _self(), amount, leastReceived, "", "", ""),
            IOft.MessagingFee(msg.value, 0),
            msg.sender
        );
        IERC20(token).forceApprove(oft, 0);
        emit Sent(token, oft, eid, amount, fee);
    }

    function _self() private view returns (bytes32) {
        return bytes32(uint256(uint160(address(this))));
    }

    /// @dev The amount is within a limit, so below 2^128: the product fits.
    function _requireFee(uint256 amount, uint256 fee, uint256 feeBps) private pure {
        uint256 most = amount * feeBps / BPS;
        if (fee > most) revert FeeTooHigh(most, fee);
    }

    /* LIMITS */

    function moverLimit(address token) external view returns (uint256 most, uint256 requested, uint256 sent) {
        DayLimit memory limit = _limits[token];
        if (limit.day != block.timestamp / 1 days) return (limit.most, 0, 0);
        return (limit.most, limit.requested, limit.sent);
    }

    function _countSent(address token, uint256 amount) private {
        DayLimit storage limit = _limits[token].today(block.timestamp);
        limit.sent = DayLimitLib.counted(token, limit.most, limit.sent, amount);
    }

    /* TREASURY */

    function takeToTreasury(address token, uint256 amount) external locked {
        if (closed) amount = token.holding(address(this));
        else _requireOwner();
        address to = _treasury();
        IERC20(token).safeTransfer(to, amount);
        emit TakenToTreasury(token, to, amount);
    }

    function takeNativeToTreasury(uint256 amount) external locked {
        if (closed) amount = address(this).balance;
        else _requireOwner();
        address to = _treasury();
        (bool taken,) = to.call{value: amount}("");
        if (!taken) revert NotTaken(to);
        emit NativeTakenToTreasury(to, amount);
    }

    function _treasury() private view returns (address to) {
        to = treasury;
        if (to == address(0)) revert InvalidParameter();
    }

    /* SIGNATURES */

    /// @notice Accepts nothing; {ILpAccount} says why.
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return 0xffffffff;
    }
}
