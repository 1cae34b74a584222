// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

import {IFiller} from "../interfaces/ICallbacks.sol";
import {IEscrow, MandateOutput, StandardOrder} from "../interfaces/IEscrow.sol";
import {TokenLib} from "../libraries/TokenLib.sol";

/// @title DexFiller
/// @notice Fills an order with what pools give for its input: all of the input is swapped along a path, the output is delivered
/// through the escrow, and whatever the pools gave beyond it goes to the output's recipient too: to its wallet when the output is
/// a ledger delivery. Nothing stays here.
///
/// The order decides what must arrive, and the escrow sees to it. The path is the choice of whoever calls `settleThrough`, which
/// may be anybody: it can only lead through pools of the factory named at deployment, and a bad one gives less surplus or
/// nothing at all, never less than the order's amount. So quotes keep little between the amount and what the pools give.
///
/// One input and one output. Tokens that charge for their transfer are refused by the pools. Unaudited.
/// @dev Holds nothing between transactions and has no owner. Tokens sent here by mistake go to the next recipient who trades them.
abstract contract DexFiller is IFiller {
    using SafeERC20 for IERC20;
    using TokenLib for address;

    /// @notice Only the escrow starts a fill.
    error OnlyEscrow(address caller);
    /// @notice An order of several inputs or outputs. Split it.
    error OneForOne(uint256 inputs, uint256 outputs);
    /// @notice Not a path of this filler's kind, or one that does not lead from the order's input to its output.
    error InvalidPath(bytes path);
    /// @notice The factory has no such pool.
    error NoPool(address tokenIn, address tokenOut);
    /// @notice The pools give less than the order asks for: they have moved since the quote.
    error BelowFloor(address token, uint256 floor, uint256 received);

    /// @notice What the pools gave beyond the order's amount, paid to the output's recipient.
    event Surplus(bytes32 indexed orderId, address indexed recipient, address token, uint256 amount);

    IEscrow public immutable ESCROW;
    /// @notice Whose pools are swapped through.
    address public immutable FACTORY;

    constructor(IEscrow escrow, address factory) {
        if (address(escrow).code.length == 0) revert IEscrow.NoCode(address(escrow));
        if (factory.code.length == 0) revert IEscrow.NoCode(factory);
        (ESCROW, FACTORY) = (escrow, factory);
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
        if (_swap(tokenIn, tokenIn.holding(address(this)), path) != tokenOut) revert InvalidPath(path);
        uint256 received = tokenOut.holding(address(this));
        if (received < output.amount) revert BelowFloor(tokenOut, output.amount, received);
        IERC20(tokenOut).forceApprove(address(ESCROW), output.amount);
        ESCROW.fill(orderId, output, order.fillDeadline, abi.encode(address(this)));
        // A ledger balance that somebody gave this contract has paid instead: no allowance stays behind.
        if (IERC20(tokenOut).allowance(address(this), address(ESCROW)) != 0) {
            IERC20(tokenOut).forceApprove(address(ESCROW), 0);
        }

        uint256 surplus = tokenOut.holding(address(this));
        if (surplus == 0) return;
        address recipient = _recipient(output);
        emit Surplus(orderId, recipient, tokenOut, surplus);
        IERC20(tokenOut).safeTransfer(recipient, surplus);
    }

    /// @dev Swaps all of `amount` along `path`; everything it gives must end here. Returns the path's last token.
    function _swap(address tokenIn, uint256 amount, bytes calldata path) internal virtual returns (address tokenOut);

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

    function _tokenAt(bytes calldata path, uint256 start) internal pure returns (address) {
        return address(bytes20(path[start:start + 20]));
    }
}
