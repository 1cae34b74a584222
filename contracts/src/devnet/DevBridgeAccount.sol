// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IOFT, MessagingFee, SendParam} from "@layerzerolabs/oft-evm/contracts/interfaces/IOFT.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @title DevBridgeAccount
/// @notice An account that sends to itself on another chain, for tests of bridges: the calls of an LP's account, without
/// rights and limits. Anyone calls it, so it holds nothing of worth.
/// @dev Without constructor arguments, so that CREATE2 gives it one address on all chains.
contract DevBridgeAccount {
    function sendByOft(address oft, uint32 eid, uint256 amount, uint256 leastReceived) external payable {
        IERC20(IOFT(oft).token()).approve(oft, amount);
        bytes32 self = bytes32(uint256(uint160(address(this))));
        // slither-disable-next-line unused-return
        IOFT(oft).send{value: msg.value}(
            SendParam(eid, self, amount, leastReceived, "", "", ""), MessagingFee(msg.value, 0), msg.sender
        );
    }
}
