// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevWallet} from "../../src/devnet/DevWallet.sol";
import {Commitment, IEscrow, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {Base} from "../support/Base.sol";

/// @notice A wallet that answers isValidSignature in every bad way.
contract BadWallet {
    uint256 public mode;

    function set(uint256 mode_) external {
        mode = mode_;
    }

    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        if (mode == 0) return 0xffffffff;
        if (mode == 1) revert("no");
        if (mode == 2) {
            while (true) {}
        }
        if (mode == 3) {
            assembly {
                return(0, 1000000) // zeros, a megabyte of them
            }
        }
        if (mode == 4) {
            assembly {
                mstore(0, shl(224, 0x1626ba7e))
                return(0, 4) // the magic value, but not a word of it
            }
        }
        if (mode == 5) {
            assembly {
                mstore(0, or(shl(224, 0x1626ba7e), 1))
                return(0, 32) // dirty behind the magic value
            }
        }
        if (mode == 6) {
            assembly {
                mstore(0, shl(224, 0x1626ba7e))
                return(0, 100000) // right, and a hundred kilobytes behind it
            }
        }
        return 0x1626ba7e;
    }
}

/// @notice The one rule for signatures, held against the user's (through the ledger) and the LP's.
contract SignaturesTest is Base {
    uint256 internal constant N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141;

    function setUp() public override {
        super.setUp();
        depositTaker(address(usd), 100 * IN);
    }

    function parts(bytes memory signature) internal pure returns (bytes32 r, uint256 s, uint8 v) {
        assembly ("memory-safe") {
            r := mload(add(signature, 0x20))
            s := mload(add(signature, 0x40))
            v := byte(0, mload(add(signature, 0x60)))
        }
    }

    function compact(bytes memory signature) internal pure returns (bytes memory) {
        (bytes32 r, uint256 s, uint8 v) = parts(signature);
        return abi.encodePacked(r, s | uint256(v - 27) << 255);
    }

    function forms(bytes memory good) internal pure returns (bytes[] memory bad) {
        (bytes32 r, uint256 s, uint8 v) = parts(good);
        bad = new bytes[](9);
        bad[0] = abi.encodePacked(r, N - s, v == 27 ? uint8(28) : uint8(27)); // the high-s twin
        bad[1] = abi.encodePacked(r, s, v - 27); // v 0 or 1
        bad[2] = abi.encodePacked(r, s, v == 27 ? uint8(28) : uint8(27));
        bad[3] = abi.encodePacked(bytes32(0), s, v);
        bad[4] = abi.encodePacked(r, uint256(0), v);
        bad[5] = abi.encodePacked(good, bytes1(0));
        bad[6] = abi.encodePacked(r, s >> 8);
        bad[7] = new bytes(63);
        bad[8] = "";
    }

    function byLedgerWith(bytes memory signature) internal pure returns (bytes memory) {
        return abi.encodePacked(bytes1(0x13), abi.encode(signature));
    }

    function test_orders() public {
        StandardOrder memory order = simple();
        bytes memory good = orderSignature(order);
        bytes[] memory bad = forms(good);
        Commitment[] memory list = commitments(order);
        for (uint256 i; i < bad.length; ++i) {
            vm.expectRevert(badSigner(taker));
            escrow.settle(order, byLedgerWith(bad[i]), list);
        }
        escrow.settle(order, byLedgerWith(compact(good)), list);
    }

    function test_commitments() public {
        StandardOrder memory order = simple();
        bytes memory funding = byLedger(order);
        Commitment[] memory list = commitments(order);
        bytes memory good = list[0].signature;
        bytes[] memory bad = forms(good);
        for (uint256 i; i < bad.length; ++i) {
            list[0].signature = bad[i];
            vm.expectRevert(badSigner(lp(0)));
            escrow.settle(order, funding, list);
        }
        list[0].signature = compact(good);
        escrow.settle(order, funding, list);
    }

    function test_the_zero_address_signs_nothing() public {
        StandardOrder memory order = simple();
        order.user = address(0);
        vm.expectRevert();
        escrow.settle(order, byLedgerWith(new bytes(65)), new Commitment[](1));
        // Nor does an account that named the zero address its operator.
        vm.prank(lp(0));
        escrow.setOperator(address(0), true);
        order = simple();
        Commitment[] memory list = commitments(order);
        list[0].signature = new bytes(65);
        bytes memory funding = byLedger(order);
        vm.expectRevert(badSigner(lp(0)));
        escrow.settle(order, funding, list);
    }

    function test_contract_wallets_as_user_and_lp() public {
        DevWallet user = new DevWallet(taker);
        DevWallet maker = new DevWallet(lp(0));
        usd.mint(address(this), IN);
        usd.approve(address(escrow), IN);
        escrow.depositFor(address(user), address(usd), IN);
        fundLp(address(maker), address(weth), OUT);
        StandardOrder memory order = simple();
        order.user = address(user);
        order.outputs[0].context = quoteContext(address(maker), order.fillDeadline, 10_000, FEE, RELAY);
        Commitment[] memory list = commitments(order);
        bytes memory funding = byLedger(order);
        list[0].signature = sign(OPERATOR, commitmentDigest(idOf(order), list[0]));
        vm.expectRevert(badSigner(address(maker)));
        escrow.settle(order, funding, list);
        list[0].signature = sign(LP, commitmentDigest(idOf(order), list[0]));
        bytes memory wrong = byLedgerWith(sign(STRANGER, orderDigest(order)));
        vm.expectRevert(badSigner(address(user)));
        escrow.settle(order, wrong, list);
        escrow.settle(order, funding, list);
        eq(escrow.balanceOf(address(maker), address(weth)), 0, "paid");
    }

    function test_bad_wallets_are_refused_at_bounded_cost() public {
        BadWallet wallet = new BadWallet();
        usd.mint(address(this), IN);
        usd.approve(address(escrow), IN);
        escrow.depositFor(address(wallet), address(usd), IN);
        StandardOrder memory order = simple();
        order.user = address(wallet);
        Commitment[] memory list = commitments(order);
        bytes memory funding = byLedgerWith("contract signature");
        for (uint256 mode; mode < 6; ++mode) {
            wallet.set(mode);
            uint256 gas = gasleft();
            vm.expectRevert(badSigner(address(wallet)));
            escrow.settle(order, funding, list);
            vm.assertLe(gas - gasleft(), 1_000_000, "bounded");
        }
        // Answering rightly with too much behind it does no harm: nothing but a word of it is copied.
        wallet.set(6);
        escrow.settle(order, funding, list);
    }

    /// @dev An EOA with a delegation is an account with code that still signs with its key.
    function test_delegated_accounts_sign_either_way() public {
        DevWallet implementation = new DevWallet(stranger);
        vm.etch(taker, abi.encodePacked(hex"ef0100", address(implementation)));
        StandardOrder memory order = simple();
        escrow.settle(order, byLedger(order), commitments(order));
        order = simple();
        escrow.settle(order, byLedgerWith(sign(STRANGER, orderDigest(order))), commitments(order));
    }

    function test_domains_after_a_fork_of_the_chain() public {
        StandardOrder memory order = simple();
        bytes memory funding = byLedger(order);
        Commitment[] memory list = commitments(order);
        vm.chainId(999);
        order.originChainId = 999;
        order.outputs[0].chainId = 999;
        vm.expectRevert(badSigner(taker));
        escrow.settle(order, funding, list);
        // Signed for the branch it is on, it works: the separator is not the cached one.
        escrow.settle(order, byLedger(order), commitments(order));
    }
}
