// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {
    ILayerZeroEndpointV2,
    MessagingFee,
    MessagingParams,
    MessagingReceipt,
    Origin
} from "@layerzerolabs/lz-evm-protocol-v2/contracts/interfaces/ILayerZeroEndpointV2.sol";
import {ILayerZeroReceiver} from "@layerzerolabs/lz-evm-protocol-v2/contracts/interfaces/ILayerZeroReceiver.sol";

/// @title DevLzEndpoint
/// @notice Stands for LayerZero's EndpointV2 on devnets: calls, views, events and packets are the same as far as an OFT, a
/// sender and an executor use them. Anyone plays the verifiers by `verify`, and sets the fee.
/// @dev test/long/conformance/oft-bridges.test.ts runs the same tests on LayerZero's own endpoint.
contract DevLzEndpoint {
    uint8 private constant PACKET_VERSION = 1;
    bytes32 private constant NIL = bytes32(type(uint256).max);

    uint32 public immutable eid;
    address public constant lzToken = address(0);
    address public constant nativeToken = address(0);
    /// @notice Wei for each message, which this contract keeps.
    uint256 public fee;
    /// @notice Nothing is quoted or sent, as on a path that nobody has configured.
    bool public isClosed;

    mapping(address oapp => address delegate) public delegates;
    mapping(address sender => mapping(uint32 dstEid => mapping(bytes32 receiver => uint64 nonce))) public
        outboundNonce;
    mapping(address receiver => mapping(uint32 srcEid => mapping(bytes32 sender => uint64 nonce))) public
        lazyInboundNonce;
    mapping(
        address receiver => mapping(uint32 srcEid => mapping(bytes32 sender => mapping(uint64 nonce => bytes32 hash)))
    ) public inboundPayloadHash;

    error LZ_DefaultSendLibUnavailable();
    error LZ_InsufficientFee(
        uint256 requiredNative, uint256 suppliedNative, uint256 requiredLzToken, uint256 suppliedLzToken
    );
    error LZ_InvalidNonce(uint64 nonce);
    error LZ_InvalidPayloadHash();
    error LZ_LzTokenUnavailable();
    error LZ_PathNotInitializable();
    error LZ_PathNotVerifiable();
    error LZ_PayloadHashNotFound(bytes32 expected, bytes32 actual);
    error LZ_Unauthorized();
    error NotRefunded();

    constructor(uint32 eid_, uint256 fee_) {
        eid = eid_;
        fee = fee_;
    }

    function setFee(uint256 fee_) external {
        fee = fee_;
    }

    function setClosed(bool closed) external {
        isClosed = closed;
    }

    function setDelegate(address delegate) external {
        delegates[msg.sender] = delegate;
        emit ILayerZeroEndpointV2.DelegateSet(msg.sender, delegate);
    }

    function quote(MessagingParams calldata params, address) public view returns (MessagingFee memory) {
        if (params.payInLzToken) revert LZ_LzTokenUnavailable();
        if (isClosed) revert LZ_DefaultSendLibUnavailable();
        return MessagingFee(fee, 0);
    }

    function send(MessagingParams calldata params, address refundAddress)
        external
        payable
        returns (MessagingReceipt memory receipt)
    {
        receipt.fee = quote(params, msg.sender);
        receipt.nonce = ++outboundNonce[msg.sender][params.dstEid][params.receiver];
        receipt.guid = _guid(receipt.nonce, msg.sender, params.dstEid, params.receiver);
        bytes memory packet = abi.encodePacked(
            PACKET_VERSION,
            receipt.nonce,
            eid,
            _toBytes32(msg.sender),
            params.dstEid,
            params.receiver,
            receipt.guid,
            params.message
        );
        emit ILayerZeroEndpointV2.PacketSent(packet, params.options, address(this));
        if (msg.value < fee) revert LZ_InsufficientFee(fee, msg.value, 0, 0);
        if (msg.value > fee) {
            (bool refunded,) = refundAddress.call{value: msg.value - fee}("");
            if (!refunded) revert NotRefunded();
        }
    }

    function nextGuid(address sender, uint32 dstEid, bytes32 receiver) external view returns (bytes32) {
        return _guid(outboundNonce[sender][dstEid][receiver] + 1, sender, dstEid, receiver);
    }

    /// @notice Of LayerZero's endpoint, only the receive library of the receiver may call this.
    function verify(Origin calldata origin, address receiver, bytes32 payloadHash) external {
        uint64 lazy = lazyInboundNonce[receiver][origin.srcEid][origin.sender];
        if (lazy == 0 && !ILayerZeroReceiver(receiver).allowInitializePath(origin)) revert LZ_PathNotInitializable();
        bytes32 known = inboundPayloadHash[receiver][origin.srcEid][origin.sender][origin.nonce];
        if (origin.nonce <= lazy && known == bytes32(0)) revert LZ_PathNotVerifiable();
        if (payloadHash == bytes32(0)) revert LZ_InvalidPayloadHash();
        inboundPayloadHash[receiver][origin.srcEid][origin.sender][origin.nonce] = payloadHash;
        emit ILayerZeroEndpointV2.PacketVerified(origin, receiver, payloadHash);
    }

    /// @notice Of the verified packets without a gap, the last one.
    function inboundNonce(address receiver, uint32 srcEid, bytes32 sender) external view returns (uint64 nonce) {
        nonce = lazyInboundNonce[receiver][srcEid][sender];
        while (inboundPayloadHash[receiver][srcEid][sender][nonce + 1] != bytes32(0)) ++nonce;
    }

    /// @notice Anyone delivers what was verified, once.
    function lzReceive(
        Origin calldata origin,
        address receiver,
        bytes32 guid,
        bytes calldata message,
        bytes calldata extraData
    ) external payable {
        _clear(receiver, origin, guid, message);
        ILayerZeroReceiver(receiver).lzReceive{value: msg.value}(origin, guid, message, msg.sender, extraData);
        emit ILayerZeroEndpointV2.PacketDelivered(origin, receiver);
    }

    /// @notice The receiver, or its delegate, drops a verified packet.
    function clear(address oapp, Origin calldata origin, bytes32 guid, bytes calldata message) external {
        _onlyFor(oapp);
        _clear(oapp, origin, guid, message);
        emit ILayerZeroEndpointV2.PacketDelivered(origin, oapp);
    }

    /// @notice The receiver, or its delegate, takes a packet's verification back.
    function nilify(address oapp, uint32 srcEid, bytes32 sender, uint64 nonce, bytes32 payloadHash) external {
        _onlyFor(oapp);
        bytes32 known = inboundPayloadHash[oapp][srcEid][sender][nonce];
        if (known != payloadHash) revert LZ_PayloadHashNotFound(known, payloadHash);
        if (nonce <= lazyInboundNonce[oapp][srcEid][sender] && known == bytes32(0)) revert LZ_InvalidNonce(nonce);
        inboundPayloadHash[oapp][srcEid][sender][nonce] = NIL;
    }

    function _clear(address receiver, Origin calldata origin, bytes32 guid, bytes calldata message) private {
        mapping(uint64 nonce => bytes32 hash) storage hashes =
            inboundPayloadHash[receiver][origin.srcEid][origin.sender];
        uint64 lazy = lazyInboundNonce[receiver][origin.srcEid][origin.sender];
        if (origin.nonce > lazy) {
            for (uint64 nonce = lazy + 1; nonce <= origin.nonce; ++nonce) {
                if (hashes[nonce] == bytes32(0)) revert LZ_InvalidNonce(nonce);
            }
            lazyInboundNonce[receiver][origin.srcEid][origin.sender] = origin.nonce;
        }
        bytes32 actual = keccak256(abi.encodePacked(guid, message));
        if (hashes[origin.nonce] != actual) revert LZ_PayloadHashNotFound(hashes[origin.nonce], actual);
        delete hashes[origin.nonce];
    }

    function _onlyFor(address oapp) private view {
        if (msg.sender != oapp && msg.sender != delegates[oapp]) revert LZ_Unauthorized();
    }

    function _guid(uint64 nonce, address sender, uint32 dstEid, bytes32 receiver) private view returns (bytes32) {
        return keccak256(abi.encodePacked(nonce, eid, _toBytes32(sender), dstEid, receiver));
    }

    function _toBytes32(address account) private pure returns (bytes32) {
        return bytes32(uint256(uint160(account)));
    }
}
