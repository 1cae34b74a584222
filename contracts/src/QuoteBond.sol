// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";

import {Commitment, IEscrow, MandateOutput, OrderStatus, StandardOrder} from "./interfaces/IEscrow.sol";
import {Fade, IQuoteBond} from "./interfaces/IQuoteBond.sol";
import {BondLib} from "./libraries/BondLib.sol";
import {OrderLib, Terms} from "./libraries/OrderLib.sol";
import {SignatureLib} from "./libraries/SignatureLib.sol";
import {TokenLib} from "./libraries/TokenLib.sol";

/// @title QuoteBond
/// @notice See {IQuoteBond}, which is the manual. Unaudited.
/// @dev A claim reads from the escrow what `settle` would trip over. It may be made from within a call of the escrow: an order's
/// status changes before its money moves, and the balance that is left then still covers all other promises of an LP that
/// keeps them.
contract QuoteBond is IQuoteBond {
    using OrderLib for StandardOrder;
    using OrderLib for Terms;
    using OrderLib for address;
    using OrderLib for bytes32;
    using SafeERC20 for IERC20;
    using TokenLib for address;

    struct Bond {
        uint256 amount;
        uint256 leaving;
        uint256 availableAt;
    }

    /// @dev `next` counts from `activeFrom` on, `now_` before. One slot.
    struct LpTerms {
        uint32 nowFillWindow;
        bool nowWallets;
        uint32 nextFillWindow;
        bool nextWallets;
        uint64 activeFrom;
    }

    address public immutable ESCROW;
    address public immutable FORFEIT_TO;
    uint256 public immutable SHARE_BPS;
    uint256 public immutable TAKE_BACK_DELAY;
    uint256 private immutable WITHDRAWAL_DELAY;

    mapping(address lp => mapping(address token => Bond)) private _bonds;
    mapping(address lp => LpTerms) private _terms;
    mapping(address user => mapping(uint256 nonce => mapping(address lp => bool))) public isClaimed;
    mapping(address account => mapping(address token => uint256)) public owed;

    bool private transient _locked;

    constructor(address escrow, address forfeitTo, uint256 shareBps, uint256 takeBackDelay) {
        if (escrow.code.length == 0 || forfeitTo == address(0) || forfeitTo == address(this)) revert InvalidParameter();
        if (shareBps == 0 || shareBps > BondLib.BPS) revert InvalidParameter();
        ESCROW = escrow;
        FORFEIT_TO = forfeitTo;
        SHARE_BPS = shareBps;
        TAKE_BACK_DELAY = takeBackDelay;
        WITHDRAWAL_DELAY = IEscrow(escrow).WITHDRAWAL_DELAY();
        // No quote lives as long as a withdrawal takes. What is left is for claims.
        if (takeBackDelay <= WITHDRAWAL_DELAY || takeBackDelay >> 32 != 0) revert InvalidParameter();
    }

    modifier locked() {
        if (_locked) revert Reentered();
        _locked = true;
        _;
        _locked = false;
    }

    /* THE BOND */

    function post(address lp, address token, uint256 amount) external locked returns (uint256 received) {
        _requireRecipient(lp);
        uint256 before = token.holding(address(this));
        IERC20(token).safeTransferFrom(msg.sender, address(this), amount);
        received = token.holding(address(this)) - before;
        if (received == 0) revert ZeroValue();
        _bonds[lp][token].amount += received;
        emit Posted(lp, token, msg.sender, received);
    }

    function requestTakeBack(address token, uint256 amount) external {
        Bond storage bond = _bonds[msg.sender][token];
        if (amount > bond.amount) revert InsufficientBond(msg.sender, token, bond.amount, amount);
        bond.leaving = amount;
        bond.availableAt = amount == 0 ? 0 : block.timestamp + TAKE_BACK_DELAY;
        emit TakeBackRequested(msg.sender, token, amount, bond.availableAt);
    }

    function takeBack(address token, address to) external locked returns (uint256 amount) {
        _requireRecipient(to);
        Bond storage bond = _bonds[msg.sender][token];
        if (block.timestamp < bond.availableAt) revert TooEarly(bond.availableAt, block.timestamp);
        amount = bond.leaving;
        if (amount == 0) revert NothingOwed(msg.sender, token);
        bond.amount -= amount;
        bond.leaving = 0;
        bond.availableAt = 0;
        IERC20(token).safeTransfer(to, amount);
        emit TakenBack(msg.sender, token, to, amount);
    }

    function bondOf(address lp, address token)
        external
        view
        returns (uint256 amount, uint256 leaving, uint256 availableAt)
    {
        Bond storage bond = _bonds[lp][token];
        return (bond.amount, bond.leaving, bond.availableAt);
    }

    function setTerms(uint32 fillWindow, bool wallets) external {
        LpTerms storage terms = _terms[msg.sender];
        (uint32 nowFillWindow, bool nowWallets) = termsOf(msg.sender);
        uint256 activeFrom = terms.activeFrom == 0 ? block.timestamp : block.timestamp + TAKE_BACK_DELAY;
        _terms[msg.sender] = LpTerms(nowFillWindow, nowWallets, fillWindow, wallets, uint64(activeFrom));
        emit TermsSet(msg.sender, fillWindow, wallets, activeFrom);
    }

    function termsOf(address lp) public view returns (uint32 fillWindow, bool wallets) {
        LpTerms storage terms = _terms[lp];
        if (block.timestamp < terms.activeFrom) return (terms.nowFillWindow, terms.nowWallets);
        return (terms.nextFillWindow, terms.nextWallets);
    }

    /* CLAIMS */

    function claim(
        StandardOrder calldata order,
        bytes calldata signature,
        Commitment calldata commitment,
        uint256 output
    ) external locked returns (uint256 paid) {
        bytes32 orderId = _requireOrder(order);
        if (order.inputOracle != ESCROW) revert WrongOrder(orderId);
        if (block.timestamp > order.fillDeadline) revert DeadlinePassed(order.fillDeadline, block.timestamp);
        if (
            IEscrow(ESCROW).orderStatus(orderId) != OrderStatus.None
                || IEscrow(ESCROW).isNonceUsed(order.user, order.nonce)
        ) revert OrderEnded(orderId);
        bool accepted = msg.sender == order.user
            || SignatureLib.signed(order.user, _digest(order.structHash()), signature);
        if (!accepted) revert NotAccepted(order.user);

        if (output >= order.outputs.length) revert WrongOrder(orderId);
        MandateOutput calldata promised = order.outputs[output];
        if (promised.chainId != block.chainid || promised.settler != ESCROW.toWord()) revert WrongOrder(orderId);
        (address operator, bool revoked) = _requireCommitted(orderId, order.fillDeadline, promised, commitment);
        (address lp, address token, uint256 amount) = (commitment.lp, promised.token.toAddress(), promised.amount);
        Fade reason;
        if (revoked) reason = Fade.Revoked;
        else if (IEscrow(ESCROW).balanceOf(lp, token) < amount) reason = Fade.Balance;
        else if (_left(lp, operator, token) < amount) reason = Fade.Limit;
        else revert PromiseStands(lp);
        _useClaim(order, lp);
        paid = _pay(order.user, orderId, commitment, reason, token, amount);
        if (paid == 0) revert NothingToPay(lp, token);
    }

    function claimUnfilled(StandardOrder calldata order, Commitment calldata commitment)
        external
        locked
        returns (uint256[] memory paid)
    {
        bytes32 orderId = _requireOrder(order);
        if (order.inputOracle == ESCROW || order.outputs.length != 1) revert WrongOrder(orderId);
        _requireCommitted(orderId, order.fillDeadline, order.outputs[0], commitment);
        address lp = commitment.lp;
        _requireCovered(orderId, order, lp);
        _useClaim(order, lp);
        OrderStatus status = IEscrow(ESCROW).orderStatus(orderId);
        if (status == OrderStatus.Deposited) IEscrow(ESCROW).refund(order);
        else if (status != OrderStatus.Refunded) revert OrderEnded(orderId);
        uint256[2][] calldata inputs = order.inputs;
        paid = new uint256[](inputs.length);
        bool any;
        for (uint256 j; j < inputs.length; ++j) {
            address token = bytes32(inputs[j][0]).toAddress();
            paid[j] = _pay(order.user, orderId, commitment, Fade.Unfilled, token, inputs[j][1]);
            any = any || paid[j] != 0;
        }
        if (!any) revert NothingToPay(lp, bytes32(inputs[0][0]).toAddress());
    }

    function _requireOrder(StandardOrder calldata order) private view returns (bytes32 orderId) {
        orderId = IEscrow(ESCROW).orderIdentifier(order);
        if (order.originChainId != block.chainid) revert WrongOrder(orderId);
    }

    function _useClaim(StandardOrder calldata order, address lp) private {
        if (isClaimed[order.user][order.nonce][lp]) revert ClaimedBefore(order.user, order.nonce, lp);
        isClaimed[order.user][order.nonce][lp] = true;
    }

    /// @return operator Who signed for the LP; zero when it signed itself.
    /// @return revoked Whether that operator could sign before, and can no more.
    function _requireCommitted(
        bytes32 orderId,
        uint256 fillDeadline,
        MandateOutput calldata promised,
        Commitment calldata commitment
    ) private view returns (address operator, bool revoked) {
        (address lp, uint32 deadline) = (commitment.lp, commitment.deadline);
        if (!OrderLib.isQuote(promised.context)) revert WrongOrder(orderId);
        Terms memory terms = OrderLib.terms(promised.context);
        bool fits = terms.exclusiveFor == lp.toWord() && deadline == fillDeadline
            && terms.startTime() == fillDeadline + 1;
        if (!fits || lp == address(0)) revert NotCommitted(lp);
        bytes32 digest = _digest(OrderLib.commitmentHash(orderId, commitment.quoteId, lp, deadline));
        operator = _signer(digest, commitment.signature);
        if (operator == lp) return (address(0), false);
        // Bytes that are no signature recover to zero, which the escrow takes for nobody's key either.
        uint256 revokedAt;
        if (operator != address(0)) {
            if (IEscrow(ESCROW).isOperator(lp, operator)) return (operator, false);
            revokedAt = IEscrow(ESCROW).revokedAt(lp, operator);
        }
        if (SignatureLib.accepts(lp, digest, commitment.signature)) return (address(0), false);
        // What has a later deadline, no operator can have signed before.
        if (revokedAt == 0 || deadline > revokedAt + WITHDRAWAL_DELAY) revert NotCommitted(lp);
        return (operator, true);
    }

    /// @dev What the LP has said that it answers for, and has had the time to do.
    function _requireCovered(bytes32 orderId, StandardOrder calldata order, address lp) private view {
        (uint256 fillWindow, bool wallets) = termsOf(lp);
        uint256 openedAt = IEscrow(ESCROW).openedAt(orderId);
        MandateOutput calldata output = order.outputs[0];
        // A ledger delivery calls nobody, though it has callbackData.
        bool possible = output.recipient == output.settler || (wallets && output.callbackData.length == 0);
        if (fillWindow == 0 || !possible || openedAt + fillWindow > order.fillDeadline) revert NotCovered(lp);
    }

    /// @dev What the operator may still spend now, by the rule of the escrow.
    function _left(address lp, address operator, address token) private view returns (uint256) {
        (bool limited, uint256 most, uint256 window, uint256 since, uint256 spent) =
            IEscrow(ESCROW).operatorLimit(lp, operator, token);
        if (!limited) return type(uint256).max;
        if (block.timestamp >= since + window) return most;
        return most < spent ? 0 : most - spent;
    }

    /// @dev Of the digest itself, or of a tree that holds it: the escrow's rule.
    function _signer(bytes32 digest, bytes calldata signature) private view returns (address) {
        if (SignatureLib.isOfTree(signature)) {
            (digest, signature) = SignatureLib.climb(digest, signature);
            digest = _digest(OrderLib.treeHash(digest));
        }
        return SignatureLib.recover(digest, signature);
    }

    /// @dev Of what is signed for the escrow, in its domain.
    function _digest(bytes32 structHash) private view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(OrderLib.DOMAIN_TYPEHASH, keccak256("EscrowV0"), keccak256("1"), block.chainid, ESCROW)
        );
        return MessageHashUtils.toTypedDataHash(domain, structHash);
    }

    /* MONEY OUT */

    function _pay(
        address user,
        bytes32 orderId,
        Commitment calldata commitment,
        Fade reason,
        address token,
        uint256 promised
    ) private returns (uint256 paid) {
        Bond storage bond = _bonds[commitment.lp][token];
        uint256 forfeited;
        (paid, forfeited) = BondLib.cost(bond.amount, promised, SHARE_BPS);
        if (paid == 0) return 0;
        bond.amount -= paid + forfeited;
        if (bond.leaving > bond.amount) bond.leaving = bond.amount;
        owed[FORFEIT_TO][token] += forfeited;
        emit Faded(commitment.lp, user, orderId, commitment.quoteId, reason, token, promised, paid, forfeited);
        // Whoever cannot be paid now, takes it later: a paused token is no reason to lose it.
        if (!token.push(user, paid)) owed[user][token] += paid;
    }

    function takeOwed(address token, address to) external locked returns (uint256 amount) {
        _requireRecipient(to);
        amount = owed[msg.sender][token];
        if (amount == 0) revert NothingOwed(msg.sender, token);
        owed[msg.sender][token] = 0;
        IERC20(token).safeTransfer(to, amount);
        emit OwedTaken(msg.sender, token, to, amount);
    }

    /// @dev What this contract itself got, nobody could ever take out.
    function _requireRecipient(address account) private view {
        if (account == address(0) || account == address(this)) revert InvalidRecipient(account);
    }
}
