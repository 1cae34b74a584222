// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IOft, ITokenMessengerV2} from "../../src/interfaces/IBridges.sol";

/// @notice A messenger of CCTP and an OFT in one: takes what it is sent and remembers for whom, or misbehaves as told.
contract Bridge is ITokenMessengerV2, IOft {
    /// @dev Dust: takes all but a unit. Greedy: tries to take as much again. Nothing: takes nothing, and says nothing.
    enum Manner {
        Honest,
        Dust,
        Greedy,
        Nothing,
        Refuse
    }

    error Refused();

    /// @dev What {IOft-send} moves.
    address public immutable token;
    address public constant BURNED = address(0xdead);
    Manner public manner;
    address private _to;
    bytes private _call;
    /// @dev How the call that it was told to make ended.
    bytes4 public outcome;

    uint256 public amount;
    bytes32 public recipient;
    uint256 public fee;
    uint32 public finality;
    uint32 public destination;
    bytes32 public caller;
    uint256 public nativeFee;
    uint256 public price = 3;

    constructor(address token_) {
        token = token_;
    }

    function behave(Manner manner_) external {
        manner = manner_;
    }

    /// @notice From now on it makes this call when it is called.
    function plan(address to, bytes calldata data) external {
        (_to, _call) = (to, data);
    }

    function depositForBurn(
        uint256 amount_,
        uint32 domain,
        bytes32 to,
        address burnToken,
        bytes32 caller_,
        uint256 maxFee,
        uint32 minFinality
    ) external {
        (recipient, destination, caller, fee, finality) = (to, domain, caller_, maxFee, minFinality);
        _take(burnToken, amount_);
    }

    function send(SendParam calldata p, MessagingFee calldata messaging, address refundAddress) external payable {
        require(messaging.nativeFee == msg.value && messaging.lzTokenFee == 0 && msg.value >= price, "fee");
        require(p.extraOptions.length + p.composeMsg.length + p.oftCmd.length == 0, "options");
        (recipient, destination, nativeFee) = (p.to, p.dstEid, msg.value);
        fee = p.amountLD < p.minAmountLD ? 0 : p.amountLD - p.minAmountLD;
        _take(token, p.amountLD);
        (bool paid,) = refundAddress.call{value: msg.value - price}("");
        require(paid, "refund");
    }

    function _take(address token_, uint256 amount_) private {
        if (manner == Manner.Refuse) revert Refused();
        amount = amount_;
        if (manner == Manner.Dust) --amount;
        if (manner == Manner.Nothing) amount = 0;
        IERC20(token_).transferFrom(msg.sender, BURNED, amount);
        if (manner == Manner.Greedy) IERC20(token_).transferFrom(msg.sender, BURNED, amount_);
        if (_to == address(0)) return;
        (bool success, bytes memory answer) = _to.call(_call);
        outcome = success ? bytes4(0) : answer.length < 4 ? bytes4(0xffffffff) : bytes4(answer);
    }
}
