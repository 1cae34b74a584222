// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title ITokenMessengerV2
/// @notice What an {ILpAccount} calls of Circle's CCTP V2.
interface ITokenMessengerV2 {
    function depositForBurn(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold
    ) external;
}

/// @title IOft
/// @notice What an {ILpAccount} calls of an omnichain fungible token of LayerZero V2. What `send` returns is not read.
interface IOft {
    struct SendParam {
        uint32 dstEid;
        bytes32 to;
        uint256 amountLD;
        uint256 minAmountLD;
        bytes extraOptions;
        bytes composeMsg;
        bytes oftCmd;
    }

    struct MessagingFee {
        uint256 nativeFee;
        uint256 lzTokenFee;
    }

    function send(SendParam calldata param, MessagingFee calldata fee, address refundAddress) external payable;
}
