// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title DevGasOracle
/// @notice Stands at the place of an OP-stack chain's GasPriceOracle on devnets: so much wei for every byte that is
/// published, and for the chain's operator.
contract DevGasOracle {
    /// @dev What the real one adds for the signature.
    uint256 private constant SIGNATURE_BYTES = 68;

    uint256 public weiPerByte;
    /// @notice Chains older than Fjord know only getL1Fee.
    bool public isFjord;
    /// @notice Per million gas.
    uint256 public operatorFeeScalar;
    uint256 public operatorFeeConstant;

    error NotFjord();

    function set(uint256 weiPerByte_, bool isFjord_) external {
        weiPerByte = weiPerByte_;
        isFjord = isFjord_;
    }

    function setOperatorFee(uint256 scalar, uint256 constant_) external {
        operatorFeeScalar = scalar;
        operatorFeeConstant = constant_;
    }

    function getOperatorFee(uint256 gasUsed) external view returns (uint256) {
        return gasUsed * operatorFeeScalar / 1_000_000 + operatorFeeConstant;
    }

    function getL1FeeUpperBound(uint256 unsignedTxSize) external view returns (uint256) {
        require(isFjord, NotFjord());
        return (unsignedTxSize + SIGNATURE_BYTES) * weiPerByte;
    }

    function getL1Fee(bytes calldata unsignedTx) external view returns (uint256) {
        return (unsignedTx.length + SIGNATURE_BYTES) * weiPerByte;
    }
}
