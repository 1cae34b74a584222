// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevCctpTransmitter, ICctpHandler} from "./DevCctpTransmitter.sol";
import {DevUsd} from "./DevUsd.sol";

/// @title DevCctpMessenger
/// @notice Stands for the token messenger of Circle's CCTP V2 on devnets, and for the minter behind it: takes a DevUsd away
/// here, and mints the one that the message of another messenger is about. Anyone sets remotes, limit and fee.
/// @dev Offsets in a body: version 0, burn token 4, recipient 36, amount 68, sender 100, most fee 132, fee 164, expiration
/// block 196, hook data 228.
contract DevCctpMessenger is ICctpHandler {
    uint256 private constant BODY_BYTES = 228;
    /// @dev A DevUsd cannot be burned; nobody has the key of this address.
    address private constant BURNED = 0x000000000000000000000000000000000000dEaD;
    uint32 private constant LEAST_FINALITY = 500;
    uint256 public constant MIN_FEE_MULTIPLIER = 10_000_000;
    uint32 public constant messageBodyVersion = 1;

    address public immutable localMessageTransmitter;
    DevUsd public immutable token;
    address public immutable feeRecipient;

    mapping(uint32 domain => bytes32) public remoteTokenMessengers;
    mapping(uint32 domain => bytes32) public remoteTokens;
    /// @notice Base units in one message; 0: the token is not burned here.
    mapping(address token => uint256) public burnLimitsPerMessage;
    /// @notice In thousandths of a basis point.
    uint256 public minFee;

    event DepositForBurn(
        address indexed burnToken,
        uint256 amount,
        address indexed depositor,
        bytes32 mintRecipient,
        uint32 destinationDomain,
        bytes32 destinationTokenMessenger,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 indexed minFinalityThreshold,
        bytes hookData
    );
    event MintAndWithdraw(
        address indexed mintRecipient, uint256 amount, address indexed mintToken, uint256 feeCollected
    );

    constructor(address transmitter, DevUsd token_, uint256 burnLimit, address feeRecipient_) {
        localMessageTransmitter = transmitter;
        token = token_;
        burnLimitsPerMessage[address(token_)] = burnLimit;
        feeRecipient = feeRecipient_;
    }

    function setRemote(uint32 domain, bytes32 messenger, bytes32 remoteToken) external {
        remoteTokenMessengers[domain] = messenger;
        remoteTokens[domain] = remoteToken;
    }

    function setBurnLimit(uint256 limit) external {
        burnLimitsPerMessage[address(token)] = limit;
    }

    function setMinFee(uint256 minFee_) external {
        minFee = minFee_;
    }

    /// @notice The minter that keeps the burn limits: this contract.
    function localMinter() external view returns (address) {
        return address(this);
    }

    function getMinFeeAmount(uint256 amount) public view returns (uint256) {
        if (minFee == 0) return 0;
        require(amount > 1, "Amount too low");
        uint256 fee = amount * minFee / MIN_FEE_MULTIPLIER;
        return fee == 0 ? 1 : fee;
    }

    function depositForBurn(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold
    ) external {
        require(amount > 0, "Amount must be nonzero");
        require(mintRecipient != bytes32(0), "Mint recipient must be nonzero");
        require(maxFee < amount, "Max fee must be less than amount");
        require(maxFee >= getMinFeeAmount(amount), "Insufficient max fee");
        bytes32 remote = remoteTokenMessengers[destinationDomain];
        require(remote != bytes32(0), "No TokenMessenger for domain");
        require(burnLimitsPerMessage[burnToken] > 0, "Burn token not supported");
        require(amount <= burnLimitsPerMessage[burnToken], "Burn amount exceeds per tx limit");
        // slither-disable-next-line unchecked-transfer
        token.transferFrom(msg.sender, BURNED, amount);
        bytes memory body = _body(burnToken, mintRecipient, amount, maxFee);
        DevCctpTransmitter(localMessageTransmitter).sendMessage(
            destinationDomain, remote, destinationCaller, minFinalityThreshold, body
        );
        emit DepositForBurn(
            burnToken,
            amount,
            msg.sender,
            mintRecipient,
            destinationDomain,
            remote,
            destinationCaller,
            maxFee,
            minFinalityThreshold,
            ""
        );
    }

    function _body(address burnToken, bytes32 mintRecipient, uint256 amount, uint256 maxFee)
        private
        view
        returns (bytes memory)
    {
        bytes32 burned = bytes32(uint256(uint160(burnToken)));
        bytes32 sender = bytes32(uint256(uint160(msg.sender)));
        return abi.encodePacked(
            messageBodyVersion, burned, mintRecipient, amount, sender, maxFee, uint256(0), uint256(0)
        );
    }

    function handleReceiveFinalizedMessage(uint32 domain, bytes32 sender, uint32, bytes calldata body)
        external
        returns (bool)
    {
        return _mint(domain, sender, body);
    }

    function handleReceiveUnfinalizedMessage(uint32 domain, bytes32 sender, uint32 finality, bytes calldata body)
        external
        returns (bool)
    {
        require(finality >= LEAST_FINALITY, "Unsupported finality threshold");
        return _mint(domain, sender, body);
    }

    function _mint(uint32 domain, bytes32 sender, bytes calldata body) private returns (bool) {
        require(msg.sender == localMessageTransmitter, "Invalid message transmitter");
        require(
            sender != bytes32(0) && remoteTokenMessengers[domain] == sender, "Remote TokenMessenger unsupported"
        );
        require(body.length >= BODY_BYTES, "Invalid burn message: too short");
        require(uint32(bytes4(body[:4])) == messageBodyVersion, "Invalid message body version");
        uint256 expiration = uint256(bytes32(body[196:228]));
        require(expiration == 0 || expiration > block.number, "Message expired and must be re-signed");
        uint256 amount = uint256(bytes32(body[68:100]));
        uint256 fee = uint256(bytes32(body[164:196]));
        require(fee == 0 || fee < amount, "Fee equals or exceeds amount");
        require(fee <= uint256(bytes32(body[132:164])), "Fee exceeds max fee");
        require(bytes32(body[4:36]) == remoteTokens[domain], "Mint token not supported");
        address recipient = address(uint160(uint256(bytes32(body[36:68]))));
        token.mint(recipient, amount - fee);
        if (fee > 0) token.mint(feeRecipient, fee);
        emit MintAndWithdraw(recipient, amount - fee, address(token), fee);
        return true;
    }
}
