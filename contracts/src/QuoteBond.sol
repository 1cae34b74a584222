// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

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

    function claim(StandardOrder calldata order, bytes calldata signature, Commitment calldata commitment)
        external
        locked
        returns (uint256[] memory paid)
    {
        address lp = commitment.lp;
        bytes32 orderId = _requireAccepted(order, signature);
        (bool fades, Fade reason) = _fades(order, orderId, commitment);
        if (!fades) revert PromiseStands(lp);
        if (isClaimed[order.user][order.nonce][lp]) revert ClaimedBefore(order.user, order.nonce, lp);
        paid = new uint256[](order.outputs.length);
        if (!_payOutputs(order, orderId, commitment, reason, paid)) revert NothingToPay(lp);
    }

    function settleOrClaim(
        StandardOrder calldata order,
        bytes calldata funding,
        bytes calldata signature,
        Commitment[] calldata commitments
    ) external locked returns (bool settled, uint256[] memory paid) {
        paid = new uint256[](order.outputs.length);
        bytes memory why;
        try IEscrow(ESCROW).settle(order, funding, commitments) {
            return (true, paid);
        } catch (bytes memory reason) {
            why = reason;
        }
        bytes32 orderId = _requireAccepted(order, signature);
        bool any;
        for (uint256 i; i < commitments.length; ++i) {
            // What one LP has been claimed for, or can deliver, says nothing of the next.
            if (isClaimed[order.user][order.nonce][commitments[i].lp]) continue;
            (bool fades, Fade reason) = _fades(order, orderId, commitments[i]);
            if (fades && _payOutputs(order, orderId, commitments[i], reason, paid)) any = true;
        }
        if (!any) {
            assembly ("memory-safe") {
                revert(add(why, 0x20), mload(why))
            }
        }
    }

    function claimUnfilled(StandardOrder calldata order, Commitment calldata commitment)
        external
        locked
        returns (uint256[] memory paid)
    {
        address lp = commitment.lp;
        bytes32 orderId = IEscrow(ESCROW).orderIdentifier(order);
        if (order.originChainId != block.chainid || order.inputOracle == ESCROW || order.outputs.length != 1) {
            revert WrongOrder(orderId);
        }
        if (!_promises(order.outputs[0], lp)) revert NotCommitted(lp);
        _requireCommitted(order, orderId, commitment);
        _requireCovered(orderId, order, lp);
        if (isClaimed[order.user][order.nonce][lp]) revert ClaimedBefore(order.user, order.nonce, lp);
        // The user has opened it: the escrow opens no quote for anybody else. So this nonce is the user's word too.
        isClaimed[order.user][order.nonce][lp] = true;
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
        if (!any) revert NothingToPay(lp);
    }

    /// @dev The escrow says whether anybody could settle it now, whatever its LPs do.
    function _requireAccepted(StandardOrder calldata order, bytes calldata signature)
        private
        view
        returns (bytes32 orderId)
    {
        orderId = IEscrow(ESCROW).checkSettle(order);
        if (msg.sender == order.user) return orderId;
        (bytes32 digest,) = IEscrow(ESCROW).signerOf(order.structHash(), "");
        if (!SignatureLib.signed(order.user, digest, signature)) revert NotAccepted(order.user);
    }

    /// @return fades Whether settlement would trip over this LP, if all others keep their promises.
    function _fades(StandardOrder calldata order, bytes32 orderId, Commitment calldata commitment)
        private
        view
        returns (bool fades, Fade reason)
    {
        (address operator, bool revoked) = _requireCommitted(order, orderId, commitment);
        MandateOutput[] calldata outputs = order.outputs;
        address lp = commitment.lp;
        bool named;
        for (uint256 i; i < outputs.length; ++i) {
            if (!_isFirstOf(outputs, i, lp)) continue;
            named = true;
            if (fades) continue;
            address token = outputs[i].token.toAddress();
            (bool covered, uint256 sum) = _covers(outputs, lp, token);
            if (revoked) (fades, reason) = (true, Fade.Revoked);
            else if (!covered) (fades, reason) = (true, Fade.Balance);
            else if (IEscrow(ESCROW).operatorLeft(lp, operator, token) < sum) (fades, reason) = (true, Fade.Limit);
        }
        if (!named) revert NotCommitted(lp);
    }

    /// @dev Delivers in the order of the outputs, as `settle` does: an earlier delivery into the LP's own ledger balance pays for a
    /// later one.
    /// @return covered Whether the LP's balance of this token suffices for each of its outputs.
    /// @return sum Of its outputs in this token.
    function _covers(MandateOutput[] calldata outputs, address lp, address token)
        private
        view
        returns (bool covered, uint256 sum)
    {
        uint256 balance = IEscrow(ESCROW).balanceOf(lp, token);
        covered = true;
        for (uint256 i; i < outputs.length; ++i) {
            MandateOutput calldata output = outputs[i];
            if (output.token != token.toWord()) continue;
            uint256 amount = output.amount;
            if (_promises(output, lp)) {
                sum = _sum(sum, amount);
                if (balance < amount) covered = false;
                else balance -= amount;
            }
            // {IEscrow-checkSettle} has read the account.
            bool ledger = output.recipient == ESCROW.toWord();
            if (ledger && address(bytes20(output.callbackData[2:])) == lp) balance = _sum(balance, amount);
        }
    }

    /// @dev Once for each token that the LP has promised, the sum of what it promised in it.
    /// @param paid By output: at the first of a token.
    /// @return any Whether anything was paid; only then the claim is used up.
    function _payOutputs(
        StandardOrder calldata order,
        bytes32 orderId,
        Commitment calldata commitment,
        Fade reason,
        uint256[] memory paid
    ) private returns (bool any) {
        address lp = commitment.lp;
        isClaimed[order.user][order.nonce][lp] = true;
        for (uint256 i; i < paid.length; ++i) {
            if (!_isFirstOf(order.outputs, i, lp)) continue;
            address token = order.outputs[i].token.toAddress();
            (, uint256 sum) = _covers(order.outputs, lp, token);
            paid[i] = _pay(order.user, orderId, commitment, reason, token, sum);
            any = any || paid[i] != 0;
        }
        if (!any) isClaimed[order.user][order.nonce][lp] = false;
    }

    /// @return Whether output `i` is the first that the LP promises in its token.
    function _isFirstOf(MandateOutput[] calldata outputs, uint256 i, address lp) private pure returns (bool) {
        if (!_promises(outputs[i], lp)) return false;
        for (uint256 k; k < i; ++k) {
            if (outputs[k].token == outputs[i].token && _promises(outputs[k], lp)) return false;
        }
        return true;
    }

    function _promises(MandateOutput calldata output, address lp) private pure returns (bool) {
        return OrderLib.isQuote(output.context) && OrderLib.terms(output.context).exclusiveFor == lp.toWord();
    }

    /// @dev The largest number stands for any that is larger: no balance reaches it.
    function _sum(uint256 a, uint256 b) private pure returns (uint256) {
        return b > type(uint256).max - a ? type(uint256).max : a + b;
    }

    /// @return operator Who signed for the LP; zero when it signed itself.
    /// @return revoked Whether that operator could sign before, and can no more.
    function _requireCommitted(StandardOrder calldata order, bytes32 orderId, Commitment calldata commitment)
        private
        view
        returns (address operator, bool revoked)
    {
        (address lp, uint32 deadline) = (commitment.lp, commitment.deadline);
        if (lp == address(0) || deadline != order.fillDeadline) revert NotCommitted(lp);
        bytes32 structHash = OrderLib.commitmentHash(orderId, commitment.quoteId, lp, deadline);
        bytes32 digest;
        (digest, operator) = IEscrow(ESCROW).signerOf(structHash, commitment.signature);
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
        // Nobody delivers to what is no address, nor of it.
        output.token.toAddress();
        output.recipient.toAddress();
        // A ledger delivery calls nobody, though it has callbackData.
        bool ledger = output.recipient == output.settler;
        bool possible = ledger ? _isLedgerAccount(output.callbackData) : wallets && output.callbackData.length == 0;
        if (fillWindow == 0 || !possible || openedAt + fillWindow > order.fillDeadline) revert NotCovered(lp);
    }

    /// @dev What the escrow of the destination delivers to: version 1, kind 0 or 1, and an account.
    function _isLedgerAccount(bytes calldata data) private pure returns (bool) {
        return data.length == 22 && data[0] == 0x01 && uint8(data[1]) < 2 && bytes20(data[2:]) != 0;
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
