// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

import {IOft, ITokenMessengerV2} from "../src/interfaces/IBridges.sol";
import {AccountBase} from "./support/AccountBase.sol";

/// @notice Takes what it is sent and does nothing else.
contract PlainBridge is ITokenMessengerV2, IOft {
    address private immutable _token;

    constructor(address token_) {
        _token = token_;
    }

    function depositForBurn(uint256 amount, uint32, bytes32, address token_, bytes32, uint256, uint32) external {
        IERC20(token_).transferFrom(msg.sender, address(this), amount);
    }

    function send(SendParam calldata p, MessagingFee calldata, address) external payable {
        IERC20(_token).transferFrom(msg.sender, address(this), p.amountLD);
    }
}

/// @notice What a transaction to an LpAccount costs its sender, measured as in Gas.t.sol: the 21,000 and calldata included. A
/// send costs more by what its bridge does beyond taking the token.
contract GasAccountTest is AccountBase {
    function measure(string memory name, address from, bytes memory data) internal {
        vm.prank(from);
        (bool success,) = address(account).call(data);
        uint256 total = vm.lastCallGas().gasTotalUsed;
        ok(success, name);
        vm.snapshotValue(name, total);
    }

    /// forge-config: default.isolate = true
    function test_deployment() public {
        vm.prank(mover);
        (bool success,) = CREATE2.call(abi.encodePacked(bytes32(uint256(1)), initCode(owner)));
        uint256 total = vm.lastCallGas().gasTotalUsed;
        ok(success, "deployed");
        vm.snapshotValue("deploy", total);
    }

    /// forge-config: default.isolate = true
    function test_mover() public {
        address plain = address(new PlainBridge(address(usd)));
        address plainOft = address(new PlainBridge(address(weth)));
        usd.mint(plain, 1);
        weth.mint(plainOft, 1);
        change(abi.encodeCall(account.setCctpRoute, (address(usd), DOMAIN, plain, ROUTE_FEE)));
        change(abi.encodeCall(account.setOftRoute, (plainOft, EID, address(weth), ROUTE_FEE)));
        measure("mover: requestWithdrawal, first of a day", mover, request(100e6));
        measure("mover: requestWithdrawal, later", mover, request(200e6));
        vm.warp(block.timestamp + 1 hours);
        measure("mover: withdraw", mover, abi.encodeCall(account.withdraw, (address(usd))));
        measure("mover: deposit", mover, abi.encodeCall(account.deposit, (address(usd), 100e6)));
        measure("mover: postBond, first", mover, abi.encodeCall(account.postBond, (address(usd), 100e6)));
        measure(
            "mover: sendByCctp, without the messenger's own",
            mover,
            abi.encodeCall(account.sendByCctp, (address(usd), DOMAIN, 100e6, 0, 2000))
        );
        measure(
            "mover: sendByOft, without the OFT's own, first of a day",
            mover,
            abi.encodeCall(account.sendByOft, (plainOft, EID, 1e18, 1e18))
        );
    }

    /// forge-config: default.isolate = true
    function test_owner() public {
        bytes memory wider = abi.encodeCall(account.setMoverLimit, (address(usd), USD_MOST + 1));
        measure("owner: schedule", owner, abi.encodeCall(account.schedule, (wider)));
        vm.warp(block.timestamp + CHANGE);
        measure("owner: setMoverLimit, when ripe", owner, wider);
        measure(
            "owner: limitOperator, narrower",
            owner,
            abi.encodeCall(
                account.limitOperator, (vm.addr(ACCOUNT_OPERATOR), address(weth), OPERATOR_MOST - 1, OPERATOR_WINDOW)
            )
        );
        measure("owner: takeToTreasury, first", owner, abi.encodeCall(account.takeToTreasury, (address(usd), 100e6)));
        measure("owner: close", owner, abi.encodeCall(account.close, ()));
    }

    function request(uint256 amount) private view returns (bytes memory) {
        return abi.encodeCall(account.requestWithdrawal, (address(usd), amount));
    }
}
