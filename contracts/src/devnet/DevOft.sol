// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {OFT} from "@layerzerolabs/oft-evm/contracts/OFT.sol";
import {Fee} from "@layerzerolabs/oft-evm/contracts/Fee.sol";
import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {DevPausable} from "./DevPausable.sol";

/// @title DevOft
/// @notice LayerZero's OFT with LayerZero's fee for devnets: a token that is burned here and minted there. Anyone mints and
/// pauses.
contract DevOft is OFT, Fee, DevPausable {
    constructor(string memory name_, string memory symbol_, address endpoint_, address owner_)
        OFT(name_, symbol_, endpoint_, owner_)
        Ownable(owner_)
    {}

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function _debitView(uint256 amount, uint256 least, uint32 dstEid)
        internal
        view
        override
        returns (uint256 sent, uint256 received)
    {
        sent = _removeDust(amount);
        received = _removeDust(sent - getFee(dstEid, sent));
        if (received < least) revert SlippageExceeded(received, least);
    }

    function _debit(address from, uint256 amount, uint256 least, uint32 dstEid)
        internal
        override
        whenRunning
        returns (uint256 sent, uint256 received)
    {
        (sent, received) = super._debit(from, amount, least, dstEid);
        _mint(owner(), sent - received);
    }

    function _credit(address to, uint256 amount, uint32 srcEid) internal override whenRunning returns (uint256) {
        return super._credit(to, amount, srcEid);
    }
}
