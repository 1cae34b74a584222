// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {EscrowBase} from "./EscrowBase.sol";
import {IEscrow, MandateOutput, OrderStatus, StandardOrder} from "./interfaces/IEscrow.sol";
import {LedgerLib} from "./libraries/LedgerLib.sol";
import {LimitLib} from "./libraries/LimitLib.sol";
import {OrderLib, Terms} from "./libraries/OrderLib.sol";

/// @title EscrowExtension
/// @notice The calls of {Escrow} that are made seldom, because a contract may not be larger: fees, releases, operators, nonces and
/// views. {Escrow} deploys it and runs its code by delegatecall on the storage of {Escrow}, so {IEscrow} is the manual of
/// this too. Called directly it acts on its own storage, where nobody has a balance. Unaudited.
contract EscrowExtension is EscrowBase {
    using LimitLib for uint256;
    using OrderLib for StandardOrder;
    using OrderLib for MandateOutput;
    using OrderLib for address;
    using OrderLib for bytes32;

    constructor(
        address permit2,
        address feeRecipient_,
        uint256 maxFeeBps,
        uint256 withdrawalDelay,
        uint256 withdrawalWindow,
        uint256 minProofWindow
    ) EscrowBase(permit2, feeRecipient_, maxFeeBps, withdrawalDelay, withdrawalWindow, minProofWindow) {}

    /* LEDGER */

    function pendingWithdrawal(address account, address token)
        external
        view
        returns (uint256 amount, uint256 availableAt, uint256 lapsesAt)
    {
        Withdrawal memory request = _withdrawals[account][token];
        if (request.amount == 0) return (0, 0, 0);
        return (request.amount, request.availableAt, request.availableAt + WITHDRAWAL_WINDOW);
    }

    function collectFees(address account, address token) external locked returns (uint256 amount) {
        amount = feesOf(account, token);
        _ledger[account][token] -= LedgerLib.pack(0, amount);
        _credit(feeRecipient, token, amount);
        emit IEscrow.FeesCollected(account, token, amount);
    }

    function feesOf(address account, address token) public view returns (uint256) {
        return LedgerLib.fees(_ledger[account][token]);
    }

    /* OPERATORS AND NONCES */

    function setOperator(address operator, bool allowed) external {
        // Who revokes twice does not renew what the key may have signed before.
        if (allowed || isOperator(msg.sender, operator)) {
            _operators[msg.sender][operator] = allowed ? UNLIMITED : block.timestamp << 2;
        }
        emit IEscrow.OperatorSet(msg.sender, operator, allowed);
    }

    function invalidateNonce(uint256 nonce) external {
        _useNonce(msg.sender, nonce);
        emit IEscrow.NonceInvalidated(msg.sender, nonce);
    }

    function revokedAt(address account, address operator) external view returns (uint256) {
        return _operators[account][operator] >> 2;
    }

    function operatorLeft(address account, address operator, address token) external view returns (uint256) {
        // No key is zero: it stands for the account itself, which no limit counts.
        if (operator == address(0) || _operators[account][operator] != LIMITED) return type(uint256).max;
        return _limits[account][operator][token].current(block.timestamp).left();
    }

    /* ORDERS */

    function release(StandardOrder calldata order, bytes[] calldata signatures) external locked {
        bytes32 structHash = keccak256(abi.encode(OrderLib.RELEASE_TYPEHASH, order.id()));
        _requireLength(order.outputs.length, signatures.length);
        for (uint256 i; i < signatures.length; ++i) {
            bytes calldata context = order.outputs[i].context;
            if (!OrderLib.isQuote(context)) revert IEscrow.NotAQuote();
            address lp = OrderLib.terms(context).exclusiveFor.toAddress();
            address operator = _requireLp(lp, structHash, signatures[i]);
            for (uint256 j; j < order.inputs.length; ++j) {
                _spend(lp, operator, _token(order.inputs[j]), order.inputs[j][1]);
            }
        }
        _refund(order);
    }

    function checkSettle(StandardOrder calldata order) external view returns (bytes32 orderId) {
        Terms[] memory terms = _checkSettled(order);
        orderId = order.id();
        OrderStatus status = orderStatus(orderId);
        if (status != OrderStatus.None) revert IEscrow.InvalidOrderStatus(orderId, status);
        if (isNonceUsed(order.user, order.nonce)) revert IEscrow.NonceUsed(order.user, order.nonce);
        for (uint256 i; i < order.outputs.length; ++i) {
            MandateOutput calldata output = order.outputs[i];
            output.token.toAddress();
            if (output.recipient.toAddress() == address(this)) _ledgerAccount(output.callbackData);
        }
        for (uint256 j; j < order.inputs.length; ++j) {
            (uint256 amount, uint256 left) = (order.inputs[j][1], order.inputs[j][1]);
            for (uint256 i; i < terms.length; ++i) {
                (uint256 slice,) = _slice(amount, left, terms[i], j == 0, i + 1 == terms.length);
                left -= slice;
            }
        }
    }

    function signerOf(bytes32 structHash, bytes calldata signature)
        external
        view
        returns (bytes32 digest, address key)
    {
        digest = _digest(structHash);
        key = _signer(digest, signature);
    }

    function hasAttested(bytes[] calldata payloads) external view returns (bool) {
        for (uint256 i; i < payloads.length; ++i) {
            (bytes32 solver, bytes32 orderId, uint32 timestamp, bytes32 hash) =
                OrderLib.readPayload(payloads[i], msg.sender.toWord());
            if (fillRecord[orderId][hash] != OrderLib.record(solver, timestamp)) return false;
        }
        return payloads.length != 0;
    }

    /* SIGNATURES */

    function eip712Domain()
        external
        view
        returns (bytes1, string memory, string memory, uint256, address, bytes32, uint256[] memory)
    {
        return (hex"0f", "EscrowV0", "1", block.chainid, address(this), 0, new uint256[](0));
    }

    /// @dev Computed for each call. {Escrow} has it from its constructor.
    function _domain() internal view override returns (bytes32) {
        return OrderLib.domainSeparator();
    }
}
