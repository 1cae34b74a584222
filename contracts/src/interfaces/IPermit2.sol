// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title IPermit2
/// @notice The part of Permit2 the escrow calls, and the part its users need to prepare for that.
interface IPermit2 {
    struct TokenPermissions {
        address token;
        uint256 amount;
    }

    struct PermitBatchTransferFrom {
        TokenPermissions[] permitted;
        uint256 nonce;
        uint256 deadline;
    }

    struct SignatureTransferDetails {
        address to;
        uint256 requestedAmount;
    }

    /// @notice Moves tokens by a one-time signature that also covers `witness`.
    function permitWitnessTransferFrom(
        PermitBatchTransferFrom memory permit,
        SignatureTransferDetails[] calldata transferDetails,
        address owner,
        bytes32 witness,
        string calldata witnessTypeString,
        bytes calldata signature
    ) external;

    /// @notice Moves tokens by a standing grant to the caller.
    function transferFrom(address from, address to, uint160 amount, address token) external;

    /// @notice Grants `spender` an allowance until `expiration`.
    function approve(address token, address spender, uint160 amount, uint48 expiration) external;

    /// @notice The standing grant of `user` to `spender`.
    function allowance(address user, address token, address spender)
        external
        view
        returns (uint160 amount, uint48 expiration, uint48 nonce);

    /// @notice Used one-time nonces, 256 to a word.
    function nonceBitmap(address owner, uint256 wordPos) external view returns (uint256);

    /// @notice Voids one-time nonces of the caller.
    function invalidateUnorderedNonces(uint256 wordPos, uint256 mask) external;

    function DOMAIN_SEPARATOR() external view returns (bytes32);
}
