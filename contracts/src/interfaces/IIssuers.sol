// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @notice What fillers need of a peg-stability module, as Maker's LitePSM and Sky's wrapper of it have it. `gem` has at most 18
/// decimals, `dai` has 18.
interface IPsm {
    function gem() external view returns (address);
    function dai() external view returns (address);
    /// @notice Base units of `dai` for one of `gem` at par.
    function to18ConversionFactor() external view returns (uint256);
    /// @notice Share of `dai` kept from who sells `gem`, in 1e18. Above that: halted.
    function tin() external view returns (uint256);
    /// @notice Share of `dai` charged on top from who buys `gem`, in 1e18. Above that: halted.
    function tout() external view returns (uint256);
    /// @notice Takes `gemAmt` of gem from the caller and pays `usr` in dai. Some answer with the amount, others with nothing.
    function sellGem(address usr, uint256 gemAmt) external;
    /// @notice Pays `usr` `gemAmt` of gem and takes dai from the caller. Some answer with the amount, others with nothing.
    function buyGem(address usr, uint256 gemAmt) external;
}

/// @notice The native currency as a token, as WETH9 has it.
interface INativeWrapper {
    function deposit() external payable;
    function withdraw(uint256 amount) external;
}
