// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @notice What receives the messages of a DevCctpTransmitter.
interface ICctpHandler {
    function handleReceiveFinalizedMessage(uint32 domain, bytes32 sender, uint32 finality, bytes calldata body)
        external
        returns (bool);

    function handleReceiveUnfinalizedMessage(uint32 domain, bytes32 sender, uint32 finality, bytes calldata body)
        external
        returns (bool);
}

/// @title DevCctpTransmitter
/// @notice Stands for the message transmitter of Circle's CCTP V2 on devnets: the same calls, events, message bytes and
/// words of its refusals. The attesters give nonces off chain. Anyone pauses it and changes its attesters.
/// @dev Offsets in a message: version 0, source 4, destination 8, nonce 12, sender 44, recipient 76, caller 108, least
/// finality 140, finality 144, body 148.
contract DevCctpTransmitter {
    uint256 private constant SIGNATURE_BYTES = 65;
    uint256 private constant BODY = 148;
    uint32 private constant FINALIZED = 2000;

    uint32 public constant version = 1;
    uint32 public immutable localDomain;

    bool public paused;
    uint256 public signatureThreshold;
    mapping(address attester => bool) public isEnabledAttester;
    /// @notice 1 once a message with this nonce was received.
    mapping(bytes32 nonce => uint256) public usedNonces;

    event MessageSent(bytes message);
    event MessageReceived(
        address indexed caller,
        uint32 sourceDomain,
        bytes32 indexed nonce,
        bytes32 sender,
        uint32 indexed finalityThresholdExecuted,
        bytes messageBody
    );

    modifier whenNotPaused() {
        require(!paused, "Pausable: paused");
        _;
    }

    constructor(uint32 domain, address[] memory attesters, uint256 threshold) {
        localDomain = domain;
        signatureThreshold = threshold;
        for (uint256 i; i < attesters.length; ++i) isEnabledAttester[attesters[i]] = true;
        usedNonces[bytes32(0)] = 1;
    }

    function setPaused(bool paused_) external {
        paused = paused_;
    }

    function setAttester(address attester, bool enabled) external {
        isEnabledAttester[attester] = enabled;
    }

    function sendMessage(
        uint32 destinationDomain,
        bytes32 recipient,
        bytes32 destinationCaller,
        uint32 minFinalityThreshold,
        bytes calldata messageBody
    ) external whenNotPaused {
        require(destinationDomain != localDomain, "Domain is local domain");
        require(recipient != bytes32(0), "Recipient must be nonzero");
        emit MessageSent(
            abi.encodePacked(
                version,
                localDomain,
                destinationDomain,
                bytes32(0),
                bytes32(uint256(uint160(msg.sender))),
                recipient,
                destinationCaller,
                minFinalityThreshold,
                uint32(0),
                messageBody
            )
        );
    }

    function receiveMessage(bytes calldata message, bytes calldata attestation) external whenNotPaused returns (bool) {
        _checkSignatures(keccak256(message), attestation);
        require(message.length >= BODY, "Invalid message: too short");
        require(uint32(bytes4(message[8:12])) == localDomain, "Invalid destination domain");
        bytes32 caller = bytes32(message[108:140]);
        require(
            caller == bytes32(0) || caller == bytes32(uint256(uint160(msg.sender))), "Invalid caller for message"
        );
        require(uint32(bytes4(message[:4])) == version, "Invalid message version");
        bytes32 nonce = bytes32(message[12:44]);
        require(usedNonces[nonce] == 0, "Nonce already used");
        usedNonces[nonce] = 1;
        _deliver(message, nonce);
        return true;
    }

    function _deliver(bytes calldata message, bytes32 nonce) private {
        uint32 source = uint32(bytes4(message[4:8]));
        bytes32 sender = bytes32(message[44:76]);
        uint32 finality = uint32(bytes4(message[144:148]));
        ICctpHandler handler = ICctpHandler(address(uint160(uint256(bytes32(message[76:108])))));
        bool handled = finality < FINALIZED
            ? handler.handleReceiveUnfinalizedMessage(source, sender, finality, message[BODY:])
            : handler.handleReceiveFinalizedMessage(source, sender, finality, message[BODY:]);
        require(handled, "the recipient refused the message");
        emit MessageReceived(msg.sender, source, nonce, sender, finality, message[BODY:]);
    }

    /// @dev So many signatures as the threshold says, by ascending signers.
    function _checkSignatures(bytes32 digest, bytes calldata attestation) private view {
        require(attestation.length == SIGNATURE_BYTES * signatureThreshold, "Invalid attestation length");
        address last;
        for (uint256 start; start < attestation.length; start += SIGNATURE_BYTES) {
            (address signer, ECDSA.RecoverError failure,) =
                ECDSA.tryRecoverCalldata(digest, attestation[start:start + SIGNATURE_BYTES]);
            require(failure == ECDSA.RecoverError.NoError, "ECDSA: invalid signature");
            require(signer > last, "Invalid signature order or dupe");
            require(isEnabledAttester[signer], "Invalid signature: not attester");
            last = signer;
        }
    }
}
