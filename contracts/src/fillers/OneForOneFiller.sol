// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

import {IFiller} from "../interfaces/ICallbacks.sol";
import {IEscrow, MandateOutput, StandardOrder} from "../interfaces/IEscrow.sol";
import {TokenLib} from "../libraries/TokenLib.sol";

/// @title OneForOneFiller
/// @notice Fills an order of one input and one output: all of the input is converted into the output's token, the order's amount
/// is delivered through the escrow, and whatever the conversion gave beyond it goes to the output's recipient too: to its wallet
/// when the output is a ledger delivery. Input that could not be converted goes back to the order's user. Nothing stays here.
///
/// The order decides what must arrive, and the escrow sees to it. Anybody may call `settleThrough` with any path, so a filler
/// fixes at deployment, or takes from the order's own tokens, which contracts the money may pass.
/// @dev Holds nothing between transactions and has no owner. Tokens sent here by mistake go to the next recipient who trades them.
/// Unaudited.
abstract contract OneForOneFiller is IFiller {
    using SafeERC20 for IERC20;
    using TokenLib for address;

    /// @notice Only the escrow starts a fill.
    error OnlyEscrow(address caller);
    /// @notice An order of several inputs or outputs. Split it.
    error OneForOne(uint256 inputs, uint256 outputs);
    /// @notice Not a path of this filler's kind, or one that does not lead from the order's input to its output.
    error InvalidPath(bytes path);
    /// @notice The conversion gives less than the order asks for: prices have moved since the quote.
    error BelowFloor(address token, uint256 floor, uint256 received);

    /// @notice What the conversion gave beyond the order's amount, paid to the output's recipient.
    event Surplus(bytes32 indexed orderId, address indexed recipient, address token, uint256 amount);

    IEscrow public immutable ESCROW;

    constructor(IEscrow escrow) {
        if (address(escrow).code.length == 0) revert IEscrow.NoCode(address(escrow));
        ESCROW = escrow;
    }

    /// @inheritdoc IFiller
    /// @param path See the filler of the kind.
    function fillThrough(bytes32 orderId, bytes calldata encoded, uint256[] calldata, bytes calldata path) external {
        if (msg.sender != address(ESCROW)) revert OnlyEscrow(msg.sender);
        StandardOrder memory order = abi.decode(encoded, (StandardOrder));
        if (order.inputs.length != 1 || order.outputs.length != 1) {
            revert OneForOne(order.inputs.length, order.outputs.length);
        }
        MandateOutput memory output = order.outputs[0];
        (address tokenIn, address tokenOut) = (address(uint160(order.inputs[0][0])), address(uint160(uint256(output.token))));

        // All that is here, so that nothing is left.
        uint256 left = _convert(tokenIn, tokenIn.holding(address(this)), tokenOut, path);
        if (left != 0) IERC20(tokenIn).safeTransfer(order.user, left);
        uint256 received = tokenOut.holding(address(this));
        if (received < output.amount) revert BelowFloor(tokenOut, output.amount, received);
        IERC20(tokenOut).forceApprove(address(ESCROW), output.amount);
        ESCROW.fill(orderId, output, order.fillDeadline, abi.encode(address(this)));
        // A ledger balance that somebody gave this contract has paid instead: no allowance stays behind.
        _revoke(tokenOut, address(ESCROW));

        uint256 surplus = tokenOut.holding(address(this));
        if (surplus == 0) return;
        address recipient = _recipient(output);
        emit Surplus(orderId, recipient, tokenOut, surplus);
        IERC20(tokenOut).safeTransfer(recipient, surplus);
    }

    /// @dev Converts `amount`; everything that comes out must end here. Reverts unless `path` leads to `tokenOut`.
    /// @return left What could not be converted and is still here: it goes back to the order's user.
    function _convert(address tokenIn, uint256 amount, address tokenOut, bytes calldata path)
        internal
        virtual
        returns (uint256 left);

    /// @dev Afterwards `spender` has no allowance for what is here.
    function _revoke(address token, address spender) internal {
        if (IERC20(token).allowance(address(this), spender) != 0) IERC20(token).forceApprove(spender, 0);
    }

    /// @dev Of a ledger delivery the account itself, whose credit the running settlement does not allow twice.
    function _recipient(MandateOutput memory output) private view returns (address recipient) {
        recipient = address(uint160(uint256(output.recipient)));
        if (recipient != address(ESCROW)) return recipient;
        bytes memory account = output.callbackData;
        // Version and kind, then the account: the fill has held it to that.
        assembly ("memory-safe") {
            recipient := shr(96, mload(add(account, 0x22)))
        }
    }
}
