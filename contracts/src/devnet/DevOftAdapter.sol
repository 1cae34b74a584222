// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {OFTAdapter} from "@layerzerolabs/oft-evm/contracts/OFTAdapter.sol";
import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {DevPausable} from "./DevPausable.sol";

/// @title DevOftAdapter
/// @notice LayerZero's OFTAdapter for devnets: locks a token here while the OFT of it exists elsewhere. Anyone pauses it.
contract DevOftAdapter is OFTAdapter, DevPausable {
    constructor(address token_, address endpoint_, address owner_)
        OFTAdapter(token_, endpoint_, owner_)
        Ownable(owner_)
    {}

    function _debit(address from, uint256 amount, uint256 least, uint32 dstEid)
        internal
        override
        whenRunning
        returns (uint256, uint256)
    {
        return super._debit(from, amount, least, dstEid);
    }

    function _credit(address to, uint256 amount, uint32 srcEid) internal override whenRunning returns (uint256) {
        return super._credit(to, amount, srcEid);
    }
}
