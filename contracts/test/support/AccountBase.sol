// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevToken} from "../../src/devnet/DevToken.sol";
import {Commitment, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {ILpAccount} from "../../src/interfaces/ILpAccount.sol";
import {Bridge} from "../mocks/Bridge.sol";
import {BondBase} from "./BondBase.sol";

/// @notice BondBase with an account that is set up: limited operator, mover, treasury, a route of each kind, money in the ledger
/// and beside it.
abstract contract AccountBase is BondBase {
    uint256 internal constant CHANGE = 2 days;
    uint256 internal constant LAPSE = 7 days;
    uint256 internal constant ACCOUNT_OPERATOR = 0xacc0;
    uint96 internal constant OPERATOR_MOST = 10e18;
    uint32 internal constant OPERATOR_WINDOW = 1 hours;
    uint128 internal constant USD_MOST = 5_000e6;
    uint128 internal constant WETH_MOST = 20e18;
    uint32 internal constant DOMAIN = 26;
    uint32 internal constant EID = 30_101;
    uint16 internal constant ROUTE_FEE = 10;
    address internal constant CREATE2 = 0x4e59b44847b379578588920cA78FbF26c0B4956C;

    address internal owner = address(0x0a11ce);
    address internal mover = address(0x306e6);
    address internal treasury = address(0x7ea5);
    ILpAccount internal account;
    Bridge internal messenger;
    Bridge internal oft;

    function setUp() public virtual override {
        super.setUp();
        account = deployAccount(owner, 0);
        messenger = new Bridge(address(usd));
        oft = new Bridge(address(weth));
        vm.startPrank(owner);
        account.initialize(address(escrow), address(bond));
        account.setTreasury(treasury);
        account.setMover(mover);
        account.setMoverLimit(address(usd), USD_MOST);
        account.setMoverLimit(address(weth), WETH_MOST);
        account.setCctpRoute(address(usd), DOMAIN, address(messenger), ROUTE_FEE);
        account.setOftRoute(address(oft), EID, address(weth), ROUTE_FEE);
        account.limitOperator(vm.addr(ACCOUNT_OPERATOR), address(weth), OPERATOR_MOST, OPERATOR_WINDOW);
        account.finishSetup();
        vm.stopPrank();
        fundLp(address(account), address(weth), 1000e18);
        fundLp(address(account), address(usd), 1_000_000e6);
        usd.mint(address(account), 10_000e6);
        weth.mint(address(account), 100e18);
        vm.deal(mover, 1 ether);
    }

    function initCode(address first) internal view returns (bytes memory) {
        return abi.encodePacked(vm.getCode("LpAccount.sol:LpAccount"), abi.encode(first));
    }

    function placeOf(address first, bytes32 salt) internal view returns (address) {
        bytes32 hash = keccak256(abi.encodePacked(bytes1(0xff), CREATE2, salt, keccak256(initCode(first))));
        return address(uint160(uint256(hash)));
    }

    /// @dev Anyone may.
    function deployAccount(address first, bytes32 salt) internal returns (ILpAccount) {
        (bool success, bytes memory answer) = CREATE2.call(abi.encodePacked(salt, initCode(first)));
        ok(success && address(bytes20(answer)) == placeOf(first, salt), "at its address");
        return ILpAccount(placeOf(first, salt));
    }

    function asOwner(bytes memory data) internal returns (bool success, bytes memory answer) {
        vm.prank(owner);
        return address(account).call(data);
    }

    /// @dev Announces, waits and makes a change.
    function change(bytes memory data) internal {
        vm.prank(owner);
        account.schedule(data);
        vm.warp(block.timestamp + CHANGE);
        (bool success,) = asOwner(data);
        ok(success, "a ripe change");
    }

    /// @dev A taker's order of this chain that the account is to deliver.
    function ofAccount(uint256 amountOut) internal returns (StandardOrder memory order) {
        order = blank(IN, 1);
        bytes memory context = quoteContext(address(account), order.fillDeadline, 10_000, FEE, RELAY);
        order.outputs[0] = output(escrow, HERE, amountOut, context);
    }

    function ownCommitments(StandardOrder memory order, uint256 key) internal view returns (Commitment[] memory list) {
        list = new Commitment[](1);
        list[0] = Commitment(keccak256("quote"), address(account), order.fillDeadline, "");
        list[0].signature = sign(key, commitmentDigest(idOf(order), list[0]));
    }

    function lying(address token) internal view returns (uint256) {
        return DevToken(token).balanceOf(address(account));
    }

    function notScheduled(bytes memory data) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(ILpAccount.NotScheduled.selector, keccak256(data));
    }

    function notOwner(address caller) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(ILpAccount.NotTheOwner.selector, caller);
    }

    function notMover(address caller) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(ILpAccount.NotTheMover.selector, caller);
    }

    function overLimit(address token, uint256 left, uint256 needed) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(ILpAccount.MoverLimitExceeded.selector, token, left, needed);
    }
}
