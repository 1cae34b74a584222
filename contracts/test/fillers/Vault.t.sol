// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

import {DevToken} from "../../src/devnet/DevToken.sol";
import {DevVault} from "../../src/devnet/DevVault.sol";
import {OneForOneFiller} from "../../src/fillers/OneForOneFiller.sol";
import {VaultFiller} from "../../src/fillers/VaultFiller.sol";
import {IEscrow, OrderStatus, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {AwkwardToken} from "../mocks/AwkwardToken.sol";
import {Reenterer} from "../mocks/Reenterer.sol";
import {FillerBase} from "./FillerBase.sol";

/// @notice A vault that answers as it is told, takes part of what it is offered, and runs somebody's call meanwhile.
contract HostileVault is AwkwardToken {
    bytes32 private _asset;
    uint256 private _length = 32;
    uint256 private _takes;
    uint256 private _gives;
    Reenterer private _reenterer;

    constructor() AwkwardToken(18) {}

    function set(bytes32 asset_, uint256 length) external {
        (_asset, _length) = (asset_, length);
    }

    function behave(uint256 takes, uint256 gives, Reenterer reenterer) external {
        (_takes, _gives, _reenterer) = (takes, gives, reenterer);
    }

    function asset() external view {
        (bytes32 answer, uint256 length) = (_asset, _length);
        assembly ("memory-safe") {
            mstore(0, answer)
            return(0, length)
        }
    }

    function deposit(uint256 assets, address receiver) external returns (uint256) {
        address token = address(uint160(uint256(_asset)));
        if (_takes != 0) IERC20(token).transferFrom(msg.sender, address(this), _takes);
        if (address(_reenterer) != address(0)) _reenterer.onSend(receiver, assets);
        this.mint(receiver, _gives);
        return type(uint256).max;
    }

    function redeem(uint256 shares, address receiver, address owner) external returns (uint256) {
        if (address(_reenterer) != address(0)) _reenterer.onSend(receiver, shares);
        this.burn(owner, _takes);
        IERC20(address(uint160(uint256(_asset)))).transfer(receiver, _gives);
        return type(uint256).max;
    }

    function burn(address owner, uint256 amount) external {
        shares[owner] -= amount;
    }

    /// @dev What it could do with an allowance that a filler left behind.
    function steal(address token, address from) external {
        IERC20(token).transferFrom(from, address(this), IERC20(token).balanceOf(from));
    }
}

contract VaultFillerTest is FillerBase {
    VaultFiller internal filler;
    DevVault internal vault;
    DevToken internal dai;

    function setUp() public override {
        super.setUp();
        filler = new VaultFiller(escrow);
        vault = new DevVault(IERC20(address(usd)), "Savings USD", "sUSD");
        dai = new DevToken("Dai", "DAI", 18);
        // Somebody's deposit and its yield: a share is worth 1.05.
        usd.mint(address(this), 1_000_000e6);
        usd.approve(address(vault), type(uint256).max);
        vault.deposit(1_000_000e6, address(this));
        usd.mint(address(vault), 50_000e6);
        vault.transfer(taker, 10_000e6);
        allow(address(vault));
        watched = [address(usd), address(vault), address(dai)];
    }

    /// @dev Apart from the vault: what rounding down leaves to the depositor, with OpenZeppelin's virtual share and asset.
    function sharesFor(uint256 assets) internal view returns (uint256) {
        return assets * (vault.totalSupply() + 1) / (usd.balanceOf(address(vault)) + 1);
    }

    function assetsFor(uint256 shares) internal view returns (uint256) {
        return shares * (usd.balanceOf(address(vault)) + 1) / (vault.totalSupply() + 1);
    }

    function deposit(uint256 floor) internal returns (StandardOrder memory) {
        return orderFor(filler, address(usd), IN, address(vault), floor);
    }

    function redemption(uint256 floor) internal returns (StandardOrder memory) {
        return orderFor(filler, address(vault), IN, address(usd), floor);
    }

    function test_deposits_and_gives_the_rest_to_the_recipient() public {
        uint256 gives = sharesFor(IN);
        StandardOrder memory order = deposit(gives - 7);
        bytes32 orderId = idOf(order);
        vm.expectEmit(true, true, true, true, address(filler));
        emit OneForOneFiller.Surplus(orderId, recipient, address(vault), 7);
        through(filler, order, "");
        eq(vault.balanceOf(recipient), gives, "all of it");
        eq(status(orderId), uint256(OrderStatus.Claimed), "claimed");
        holdsNothing(filler);
        eq(usd.allowance(address(filler), address(vault)), 0, "allows the vault nothing");
    }

    function test_redeems_and_gives_the_rest_to_the_recipient() public {
        uint256 gives = assetsFor(IN);
        ok(gives > IN, "a share is worth more than its asset");
        StandardOrder memory order = redemption(gives - 7);
        bytes32 orderId = idOf(order);
        vm.expectEmit(true, true, true, true, address(filler));
        emit OneForOneFiller.Surplus(orderId, recipient, address(usd), 7);
        through(filler, order, "");
        eq(usd.balanceOf(recipient), gives, "all of it");
        eq(status(orderId), uint256(OrderStatus.Claimed), "claimed");
        holdsNothing(filler);
    }

    function test_to_the_unit_in_both_directions() public {
        uint256 gives = sharesFor(IN);
        refuse(filler, deposit(gives + 1), "", belowFloor(address(vault), gives + 1, gives));
        through(filler, deposit(gives), "");
        eq(vault.balanceOf(recipient), gives, "shares");
        gives = assetsFor(IN);
        refuse(filler, redemption(gives + 1), "", belowFloor(address(usd), gives + 1, gives));
        through(filler, redemption(gives), "");
        eq(usd.balanceOf(recipient), gives, "assets");
        holdsNothing(filler);
    }

    /// @dev Previews and the conversion agree, and there and back again earns nothing.
    function testFuzz_amounts(uint256 amount, uint256 yield, uint256 loss) public {
        usd.mint(address(vault), bound(yield, 0, 1e15));
        vault.lose(bound(loss, 0, usd.balanceOf(address(vault)) - 1e9));
        amount = bound(amount, 1e6, 1_000_000e6);
        uint256 gives = vault.previewDeposit(amount);
        if (gives == 0) return;
        through(filler, orderFor(filler, address(usd), amount, address(vault), gives), "");
        eq(vault.balanceOf(recipient), gives, "shares as previewed");
        holdsNothing(filler);
        vm.prank(recipient);
        vault.transfer(taker, gives);
        uint256 back = vault.previewRedeem(gives);
        ok(back <= amount, "rounded against the holder");
        if (back == 0) return;
        through(filler, orderFor(filler, address(vault), gives, address(usd), back), "");
        eq(usd.balanceOf(recipient), back, "assets as previewed");
        holdsNothing(filler);
    }

    function test_a_ledger_delivery_and_its_surplus() public {
        uint256 gives = sharesFor(IN);
        StandardOrder memory order = deposit(gives - 7);
        intoLedger(order, false, recipient);
        through(filler, order, "");
        eq(escrow.balanceOf(recipient, address(vault)), gives - 7, "the order's amount in the ledger");
        eq(vault.balanceOf(recipient), 7, "the surplus in the account's wallet");
        holdsNothing(filler);
    }

    /* LIMITS */

    function test_a_full_vault_reverts_the_whole() public {
        vault.limit(usd.balanceOf(address(vault)) + IN - 1, type(uint256).max);
        bytes memory full = abi.encodeWithSignature(
            "ERC4626ExceededMaxDeposit(address,uint256,uint256)", address(filler), IN, IN - 1
        );
        StandardOrder memory order = deposit(1);
        refuse(filler, order, "", full);
        vault.limit(0, type(uint256).max);
        full = abi.encodeWithSignature(
            "ERC4626ExceededMaxDeposit(address,uint256,uint256)", address(filler), IN, 0
        );
        refuse(filler, order, "", full);
        vault.limit(type(uint256).max, type(uint256).max);
        through(filler, order, "");
    }

    function test_an_illiquid_vault_reverts_the_whole() public {
        vault.limit(type(uint256).max, 0);
        StandardOrder memory order = redemption(1);
        refuse(
            filler,
            order,
            "",
            abi.encodeWithSignature(
                "ERC4626ExceededMaxRedeem(address,uint256,uint256)", address(filler), IN, 0
            )
        );
        vault.limit(type(uint256).max, type(uint256).max);
        through(filler, order, "");
    }

    /* ATTACKS */

    function test_only_the_escrow_calls() public {
        StandardOrder memory order = deposit(1);
        uint256[] memory amounts = new uint256[](1);
        give(address(usd), address(filler), 1e6);
        vm.prank(stranger);
        vm.expectRevert(abi.encodeWithSelector(OneForOneFiller.OnlyEscrow.selector, stranger));
        filler.fillThrough(bytes32(0), abi.encode(order), amounts, "");
    }

    function test_the_caller_chooses_nothing() public {
        bytes memory path = abi.encodePacked(stranger);
        refuse(filler, deposit(1), path, abi.encodeWithSelector(OneForOneFiller.InvalidPath.selector, path));
    }

    function test_tokens_that_are_no_vault_of_each_other() public {
        StandardOrder memory order = orderFor(filler, address(usd), IN, address(weth), 1);
        refuse(filler, order, "", noVault(address(usd), address(weth)));
        // A vault, but of another asset.
        order = orderFor(filler, address(vault), IN, address(dai), 1);
        refuse(filler, order, "", noVault(address(vault), address(dai)));
        // A word that holds an address and more, and an answer shorter than a word.
        HostileVault evil = new HostileVault();
        order = orderFor(filler, address(usd), IN, address(evil), 1);
        evil.set(bytes32(1 << 160 | uint256(uint160(address(usd)))), 32);
        refuse(filler, order, "", noVault(address(usd), address(evil)));
        evil.set(bytes32(uint256(uint160(address(usd)))), 31);
        refuse(filler, order, "", noVault(address(usd), address(evil)));
        // An address without code answers to nothing.
        order = orderFor(filler, address(usd), IN, stranger, 1);
        refuse(filler, order, "", noVault(address(usd), stranger));
    }

    function noVault(address tokenIn, address tokenOut) private pure returns (bytes memory) {
        return abi.encodeWithSelector(VaultFiller.NoVault.selector, tokenIn, tokenOut);
    }

    /// @dev The first depositor's attack: one share, made dear by a gift, so that the next deposit rounds to nothing.
    function test_an_inflated_share_cannot_take_the_deposit() public {
        DevVault young = new DevVault(IERC20(address(usd)), "Young", "Y");
        StandardOrder memory order = orderFor(filler, address(usd), IN, address(young), IN * 999 / 1000);
        usd.mint(address(this), 1);
        usd.approve(address(young), 1);
        young.deposit(1, address(this));
        usd.mint(address(young), 10 * IN);
        refuse(filler, order, "", belowFloor(address(young), IN * 999 / 1000, 0));
    }

    /// @dev Yield between quote and settlement makes shares dearer, a loss makes assets fewer.
    function test_a_vault_that_moved_reverts_the_whole() public {
        StandardOrder memory order = deposit(sharesFor(IN));
        usd.mint(address(vault), 1_000e6);
        refuse(filler, order, "", belowFloor(address(vault), order.outputs[0].amount, sharesFor(IN)));
        order = redemption(assetsFor(IN));
        vault.lose(2_000e6);
        refuse(filler, order, "", belowFloor(address(usd), order.outputs[0].amount, assetsFor(IN)));
        // When the yield is back, so is the order's chance.
        usd.mint(address(vault), 2_000e6);
        through(filler, order, "");
        holdsNothing(filler);
    }

    function hostile() internal returns (HostileVault evil) {
        evil = new HostileVault();
        evil.set(word(address(usd)), 32);
        give(address(evil), taker, 1e18);
        allow(address(evil));
    }

    function test_what_a_vault_says_it_gave_does_not_count() public {
        HostileVault evil = hostile();
        evil.behave(IN, 0, Reenterer(address(0)));
        refuse(filler, orderFor(filler, address(usd), IN, address(evil), 1), "", belowFloor(address(evil), 1, 0));
        refuse(filler, orderFor(filler, address(evil), IN, address(usd), 1), "", belowFloor(address(usd), 1, 0));
    }

    /// @dev It takes less than it is offered and keeps its allowance in mind for the next order.
    function test_what_a_vault_leaves_goes_back_and_its_allowance_ends() public {
        HostileVault evil = hostile();
        evil.behave(IN - 100e6, 5, Reenterer(address(0)));
        uint256 held = usd.balanceOf(taker);
        through(filler, orderFor(filler, address(usd), IN, address(evil), 5), "");
        eq(held - usd.balanceOf(taker), IN - 100e6, "the rest is the taker's");
        eq(usd.allowance(address(filler), address(evil)), 0, "no allowance");
        eq(usd.balanceOf(address(filler)), 0, "nothing stays");
        give(address(usd), address(filler), 1e6);
        vm.expectRevert();
        evil.steal(address(usd), address(filler));
        // And of a redemption.
        evil.behave(IN - 3, 1e6, Reenterer(address(0)));
        held = evil.balanceOf(taker);
        through(filler, orderFor(filler, address(evil), IN, address(usd), 1e6), "");
        eq(held - evil.balanceOf(taker), IN - 3, "the rest is the taker's");
        eq(evil.balanceOf(address(filler)), 0, "nothing stays");
    }

    function test_reentrance_from_a_vault() public {
        HostileVault evil = hostile();
        Reenterer reenterer = new Reenterer();
        StandardOrder memory other = deposit(1);
        uint256[] memory amounts = new uint256[](1);
        for (uint256 i; i < 6; ++i) {
            StandardOrder memory order = i % 2 == 0
                ? orderFor(filler, address(usd), IN, address(evil), 1)
                : orderFor(filler, address(evil), IN, address(usd), 1);
            bytes[3] memory calls = [
                abi.encodeCall(filler.fillThrough, (idOf(order), abi.encode(order), amounts, "")),
                abi.encodeCall(escrow.settleThrough, (other, by3009(other), address(filler), "")),
                abi.encodeCall(
                    escrow.fill, (idOf(order), order.outputs[0], order.fillDeadline, fillerData(address(filler)))
                )
            ];
            reenterer.set(i < 2 ? address(filler) : address(escrow), calls[i / 2]);
            reenterer.expect(
                i < 2
                    ? abi.encodeWithSelector(OneForOneFiller.OnlyEscrow.selector, address(reenterer))
                    : err(IEscrow.Reentered.selector)
            );
            evil.behave(IN, 1e6, reenterer);
            through(filler, order, "");
            ok(reenterer.refused(), "refused as it should be");
            holdsNothing(filler);
        }
    }

    /// @dev An asset that charges for its transfer: less arrives in the vault, and the order's amount decides.
    function test_assets_that_take_a_fee_on_their_way() public {
        AwkwardToken taxed = new AwkwardToken(18);
        DevVault odd = new DevVault(IERC20(address(taxed)), "Odd", "ODD");
        give(address(taxed), taker, 1e18);
        give(address(odd.asset()), address(this), 1e18);
        taxed.approve(address(odd), 1e18);
        odd.deposit(1e18, taker);
        allow(address(taxed));
        allow(address(odd));
        taxed.setFee(100);
        StandardOrder memory order = orderFor(filler, address(taxed), 1e6, address(odd), 1);
        refuse(
            filler,
            order,
            "",
            abi.encodeWithSelector(IEscrow.ShortTransfer.selector, address(taxed), 1e6, 1e6 - 1e4)
        );
        order = orderFor(filler, address(odd), 1e6, address(taxed), 1e6);
        refuse(filler, order, "", belowFloor(address(taxed), 1e6, 1e6 - 1e4));
    }

    /// @dev An input that shrinks on its way into the vault leaves nothing here, but an allowance.
    function test_an_allowance_ends_even_when_the_input_vanished() public {
        AwkwardToken odd = new AwkwardToken(18);
        HostileVault evil = new HostileVault();
        evil.set(word(address(odd)), 32);
        give(address(odd), taker, 1e18);
        allow(address(odd));
        Reenterer reenterer = new Reenterer();
        reenterer.set(address(odd), abi.encodeCall(odd.setScale, (1)));
        evil.behave(0, 5, reenterer);
        through(filler, orderFor(filler, address(odd), 1e12, address(evil), 5), "");
        eq(odd.allowance(address(filler), address(evil)), 0, "no allowance");
    }

    function test_gifts_go_to_the_next_recipient() public {
        give(address(usd), address(filler), 1e6);
        vault.transfer(address(filler), 5);
        uint256 gives = sharesFor(IN + 1e6);
        through(filler, deposit(gives), "");
        eq(vault.balanceOf(recipient), gives + 5, "the gifts too");
        holdsNothing(filler);
    }

    function test_needs_an_escrow() public {
        vm.expectRevert(abi.encodeWithSelector(IEscrow.NoCode.selector, stranger));
        new VaultFiller(IEscrow(stranger));
    }
}
