// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Commitment, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {IQuoteBond} from "../../src/interfaces/IQuoteBond.sol";
import {OrderLib} from "../../src/libraries/OrderLib.sol";
import {BondBase} from "../support/BondBase.sol";

/// @notice Signs one digest, with 97 bytes.
contract LongWallet {
    bytes32 private immutable _digest;

    constructor(bytes32 digest) {
        _digest = digest;
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        return digest == _digest && signature.length == 97 ? bytes4(0x1626ba7e) : bytes4(0);
    }
}

/// @notice One signature of an LP over the Merkle root of many digests, each with its proof.
contract TreesTest is BondBase {
    /// @dev Pairs are hashed in ascending order; the last of an odd row goes up as it is.
    function tree(bytes32[] memory row, uint256 index) internal pure returns (bytes32 root, bytes memory proof) {
        while (row.length > 1) {
            if (index ^ 1 < row.length) proof = abi.encodePacked(proof, row[index ^ 1]);
            bytes32[] memory up = new bytes32[]((row.length + 1) / 2);
            for (uint256 i; i < up.length; ++i) {
                bytes32 left = row[2 * i];
                if (2 * i + 1 == row.length) up[i] = left;
                else up[i] = pair(left, row[2 * i + 1]);
            }
            (row, index) = (up, index / 2);
        }
        root = row[0];
    }

    function pair(bytes32 a, bytes32 b) internal pure returns (bytes32) {
        return a < b ? keccak256(abi.encode(a, b)) : keccak256(abi.encode(b, a));
    }

    function rootDigest(address verifier, bytes32 root) internal view returns (bytes32) {
        return typed(verifier, keccak256(abi.encode(keccak256("QuoteTree(bytes32 root)"), root)));
    }

    /// @dev `digest` among `others` more.
    function signed(uint256 key, bytes32 digest, uint256 others, uint256 index) internal view returns (bytes memory) {
        bytes32[] memory leaves = new bytes32[](others + 1);
        for (uint256 i; i < leaves.length; ++i) {
            leaves[i] = keccak256(abi.encode("another quote", i));
        }
        leaves[index] = digest;
        (bytes32 root, bytes memory proof) = tree(leaves, index);
        return abi.encodePacked(sign(key, rootDigest(address(escrow), root)), proof);
    }

    function committed(StandardOrder memory order) internal view returns (Commitment[] memory list, bytes32 digest) {
        list = commitments(order);
        digest = commitmentDigest(idOf(order), list[0]);
    }

    function refuse(StandardOrder memory order, Commitment[] memory list) internal {
        bytes memory funding = byInline(order, block.timestamp + 60);
        vm.expectRevert(badSigner(lp(0)));
        escrow.settle(order, funding, list);
    }

    function test_fuzz_each_quote_of_a_tree_settles(uint256 seed) public {
        uint256 others = bound(seed, 1, 40);
        StandardOrder memory order = simple();
        (Commitment[] memory list, bytes32 digest) = committed(order);
        list[0].signature = signed(OPERATOR, digest, others, (seed >> 8) % (others + 1));
        escrow.settle(order, byInline(order, block.timestamp + 60), list);
        eq(status(idOf(order)), 2, "settled");
    }

    function test_the_lp_itself_may_sign_a_tree() public {
        StandardOrder memory order = simple();
        (Commitment[] memory list, bytes32 digest) = committed(order);
        list[0].signature = signed(LP, digest, 3, 2);
        escrow.settle(order, byInline(order, block.timestamp + 60), list);
    }

    /// @dev A byte, a step, a leaf, a domain or a type that is not the signed one gives another signer.
    function test_what_the_tree_does_not_hold_is_refused() public {
        StandardOrder memory order = simple();
        (Commitment[] memory list, bytes32 digest) = committed(order);
        bytes memory good = signed(OPERATOR, digest, 3, 1);
        eq(good.length, 129, "two steps");
        for (uint256 i; i < good.length; i += 13) {
            list[0].signature = bytes.concat(good);
            list[0].signature[i] ^= 0x01;
            refuse(order, list);
        }
        list[0].signature = signed(OPERATOR, keccak256("not this quote"), 3, 1);
        refuse(order, list);
        list[0].signature = bytes.concat(good, bytes32(0));
        refuse(order, list);
        list[0].signature = bytes.concat(good, bytes31(0));
        refuse(order, list);
        list[0].signature = signed(STRANGER, digest, 3, 1);
        refuse(order, list);

        bytes32 sibling = keccak256("sibling");
        bytes32 root = pair(digest, sibling);
        // The root as it is, in another escrow's domain, and as a commitment.
        list[0].signature = abi.encodePacked(sign(OPERATOR, root), sibling);
        refuse(order, list);
        list[0].signature = abi.encodePacked(sign(OPERATOR, rootDigest(address(deployEscrow()), root)), sibling);
        refuse(order, list);
        bytes32 other = keccak256(abi.encode(OrderLib.QUOTE_COMMITMENT_TYPEHASH, root));
        list[0].signature = abi.encodePacked(sign(OPERATOR, typed(address(escrow), other)), sibling);
        refuse(order, list);
        // A plain signature with a proof behind it, and a tree's without.
        list[0].signature = abi.encodePacked(sign(OPERATOR, digest), sibling);
        refuse(order, list);
        list[0].signature = sign(OPERATOR, rootDigest(address(escrow), digest));
        refuse(order, list);

        list[0].signature = good;
        escrow.settle(order, byInline(order, block.timestamp + 60), list);
    }

    function test_limits_count_for_a_tree_as_for_a_signature() public {
        vm.prank(lp(0));
        escrow.limitOperator(operator(0), address(weth), uint96(OUT), 1 hours);
        StandardOrder memory order = simple();
        (Commitment[] memory list, bytes32 digest) = committed(order);
        list[0].signature = signed(OPERATOR, digest, 1, 0);
        escrow.settle(order, byInline(order, block.timestamp + 60), list);
        (,,,, uint256 spent) = escrow.operatorLimit(lp(0), operator(0), address(weth));
        eq(spent, OUT, "counted");
        order = simple();
        (list, digest) = committed(order);
        list[0].signature = signed(OPERATOR, digest, 1, 0);
        bytes memory funding = byInline(order, block.timestamp + 60);
        vm.expectRevert();
        escrow.settle(order, funding, list);
    }

    function test_a_revoked_operator_signs_no_tree() public {
        StandardOrder memory order = simple();
        (Commitment[] memory list, bytes32 digest) = committed(order);
        list[0].signature = signed(OPERATOR, digest, 1, 0);
        vm.prank(lp(0));
        escrow.setOperator(operator(0), false);
        refuse(order, list);
    }

    /// @dev Its own rule may have signatures of that length.
    function test_an_account_of_code_is_asked_about_the_digest_and_all_bytes() public {
        StandardOrder memory order = simple();
        (Commitment[] memory list, bytes32 digest) = committed(order);
        list[0].signature = new bytes(97);
        vm.etch(lp(0), address(new LongWallet(digest)).code);
        escrow.settle(order, byInline(order, block.timestamp + 60), list);
    }

    function test_a_taker_signs_for_itself_alone() public {
        depositTaker(address(usd), IN);
        StandardOrder memory order = simple();
        bytes memory funding = abi.encodePacked(bytes1(0x13), abi.encode(signed(TAKER, orderDigest(order), 1, 0)));
        Commitment[] memory list = commitments(order);
        vm.expectRevert(badSigner(taker));
        escrow.settle(order, funding, list);
    }

    function test_approvals_and_releases_of_a_tree() public {
        StandardOrder memory order = cross();
        bytes32 orderId = openOrder(order);
        bytes32 digest = typed(address(escrow), keccak256(abi.encode(OrderLib.RELEASE_TYPEHASH, orderId)));
        bytes[] memory signatures = new bytes[](1);
        signatures[0] = signed(OPERATOR, digest, 2, 2);
        escrow.release(toOpen(order), signatures);
        eq(status(orderId), 3, "refunded");
    }

    function test_a_fade_is_claimed_by_the_signature_of_its_tree() public {
        StandardOrder memory order = simple();
        moveAway(lp(0), address(weth), 0);
        Commitment memory commitment = commitments(order)[0];
        bytes32 digest = commitmentDigest(idOf(order), commitment);
        bytes memory good = signed(OPERATOR, digest, 6, 5);
        commitment.signature = bytes.concat(good);
        commitment.signature[70] ^= 0x01;
        bytes memory consent = orderSignature(order);
        vm.expectRevert(abi.encodeWithSelector(IQuoteBond.NotCommitted.selector, lp(0)));
        bond.claim(order, consent, commitment);
        commitment.signature = good;
        ok(bond.claim(order, consent, commitment)[0] > 0, "paid");
    }
}
