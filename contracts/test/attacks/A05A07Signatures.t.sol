// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevWallet} from "../../src/devnet/DevWallet.sol";
import {Approval, Commitment, IEscrow, MandateOutput, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {OrderLib} from "../../src/libraries/OrderLib.sol";
import {Wallet} from "../mocks/Wallet.sol";
import {Attack} from "./Attack.sol";

/// @notice Groups 5 to 7: commitments, EIP-712, ERC-1271.
contract SignatureAttacksTest is Attack {
    bytes4 private constant BAD = IEscrow.InvalidSignature.selector;

    /* 5. COMMITMENTS */

    function copy(StandardOrder memory order) private pure returns (StandardOrder memory) {
        return abi.decode(abi.encode(order), (StandardOrder));
    }

    function test_5_replayAcrossOrders() public {
        StandardOrder memory a = simple();
        StandardOrder memory b = simple();
        refusedSettle(b, by3009(b), commitments(a), BAD, "another order");
        settle(a);
        refusedSettle(a, by3009(a), IEscrow.InvalidOrderStatus.selector, "the same order again");
        a.nonce += 1;
        Commitment[] memory old = commitments(b);
        refusedSettle(a, by3009(a), old, BAD, "another nonce");
    }

    function test_5_replayAcrossChainsEscrowsAndVersions() public {
        StandardOrder memory order = simple();
        bytes32 orderId = idOf(order);
        Commitment[] memory list = commitments(order);
        bytes32 structHash = OrderLib.commitmentHash(orderId, list[0].quoteId, lp(0), order.fillDeadline);
        vm.chainId(THERE);
        list[0].signature = sign(OPERATOR, typed(address(escrow), structHash));
        vm.chainId(HERE);
        refusedSettle(order, by3009(order), list, BAD, "another chain");
        list[0].signature = sign(OPERATOR, typed(address(remote), structHash));
        refusedSettle(order, by3009(order), list, BAD, "another escrow");
        bytes32 version2 = keccak256(
            abi.encode(
                OrderLib.DOMAIN_TYPEHASH, keccak256("EscrowV0"), keccak256("2"), block.chainid, address(escrow)
            )
        );
        list[0].signature = sign(OPERATOR, keccak256(abi.encodePacked("\x19\x01", version2, structHash)));
        refusedSettle(order, by3009(order), list, BAD, "another version");
        bytes32 bare =
            keccak256(abi.encode(keccak256("EIP712Domain(string name,string version)"), keccak256("EscrowV0"), keccak256("1")));
        list[0].signature = sign(OPERATOR, keccak256(abi.encodePacked("\x19\x01", bare, structHash)));
        refusedSettle(order, by3009(order), list, BAD, "a domain without chain and contract");
    }

    function test_5_afterItsTime() public {
        StandardOrder memory order = simple();
        bytes memory funding = by3009(order);
        Commitment[] memory list = commitments(order);
        vm.warp(order.fillDeadline + 1);
        refusedSettle(order, funding, list, IEscrow.DeadlinePassed.selector, "late");
        vm.warp(order.fillDeadline);
        vm.prank(stranger);
        escrow.settle(order, funding, list);
    }

    function test_5_deadlineIsTheOrders() public {
        StandardOrder memory order = simple();
        Commitment[] memory list = commitments(order);
        for (uint256 i; i < 2; ++i) {
            list[0].deadline = i == 0 ? order.fillDeadline + 1 : order.fillDeadline - 1;
            list[0].signature = sign(OPERATOR, commitmentDigest(idOf(order), list[0]));
            refusedSettle(order, by3009(order), list, IEscrow.WrongCommitment.selector, "another deadline");
        }
    }

    function test_5_revokedOperator() public {
        StandardOrder memory order = simple();
        Commitment[] memory list = commitments(order);
        vm.prank(lp(0));
        escrow.setOperator(operator(0), false);
        refusedSettle(order, by3009(order), list, BAD, "revoked at once");
        list[0].signature = sign(OPERATOR + 16, commitmentDigest(idOf(order), list[0]));
        refusedSettle(order, by3009(order), list, BAD, "another LP's operator");
    }

    function test_5_anotherTaker() public {
        StandardOrder memory order = simple();
        Commitment[] memory list = commitments(order);
        StandardOrder memory theirs = copy(order);
        theirs.user = fundedUser(0xabcd);
        bytes32 digest = orderDigest(theirs);
        vm.startPrank(theirs.user);
        permit2.approve(address(usd), address(escrow), type(uint160).max, type(uint48).max);
        vm.stopPrank();
        bytes memory funding = abi.encodePacked(bytes1(0x10), abi.encode(sign(0xabcd, digest)));
        refusedSettle(theirs, funding, list, BAD, "taker A's commitment used by B");
    }

    function test_5_partialUse() public {
        StandardOrder memory order = split(IN, OUT);
        Commitment[] memory list = commitments(order);
        Commitment[] memory two = new Commitment[](2);
        (two[0], two[1]) = (list[0], list[1]);
        refusedSettle(order, by3009(order), two, IEscrow.LengthMismatch.selector, "two of three commitments");
        StandardOrder memory part = copy(order);
        part.outputs = new MandateOutput[](1);
        part.outputs[0] = copy(order).outputs[0];
        Commitment[] memory one = new Commitment[](1);
        one[0] = list[0];
        refusedSettle(part, by3009(part), one, IEscrow.InvalidPortions.selector, "one slice of three");
        part.outputs[0].context = quoteContext(lp(0), order.fillDeadline, 10_000, FEE, RELAY);
        refusedSettle(part, by3009(part), one, BAD, "a slice as a whole");
        (list[0], list[1]) = (list[1], list[0]);
        refusedSettle(order, by3009(order), list, IEscrow.WrongCommitment.selector, "in another order");
    }

    /// @dev Nothing a commitment says moves money on the chain where the origin cannot be seen.
    function test_5_commitmentsDoNotFillAcrossChains() public {
        StandardOrder memory order = cross();
        refusedSettle(order, by3009(order), IEscrow.WrongOracle.selector, "settle");
        Commitment[] memory list = commitments(order);
        Approval[] memory approvals = new Approval[](1);
        approvals[0] = Approval(order.fillDeadline, list[0].signature);
        bytes32 orderId = idOf(order);
        vm.chainId(THERE);
        refused(
            stranger,
            address(remote),
            abi.encodeCall(remote.fillWithApprovals, (orderId, order.outputs, order.fillDeadline, approvals)),
            BAD,
            "a commitment is no approval"
        );
    }

    function test_5_approvalsAreSpentAndBound() public {
        StandardOrder memory order = cross();
        bytes32 orderId = openOrder(order);
        vm.chainId(THERE);
        Approval[] memory list = new Approval[](1);
        list[0] = approvalFor(remote, orderId, order.outputs[0], order.fillDeadline, OPERATOR);
        bytes memory data =
            abi.encodeCall(remote.fillWithApprovals, (orderId, order.outputs, order.fillDeadline, list));
        bytes memory otherId =
            abi.encodeCall(remote.fillWithApprovals, (keccak256("x"), order.outputs, order.fillDeadline, list));
        refused(stranger, address(remote), otherId, BAD, "another order");
        order.outputs[0].recipient = word(stranger);
        bytes memory other =
            abi.encodeCall(remote.fillWithApprovals, (orderId, order.outputs, order.fillDeadline, list));
        refused(stranger, address(remote), other, BAD, "another output");
        vm.prank(stranger);
        (bool success,) = address(remote).call(data);
        ok(success, "once");
        refused(stranger, address(remote), data, IEscrow.AlreadyFilled.selector, "twice");
    }

    /* 6. EIP-712 */

    /// @dev After a fork both branches carry the contract; what is signed for one is void on the other.
    function test_6_noCachedSeparatorAfterAFork() public {
        StandardOrder memory order = simple();
        bytes memory funding = by3009(order);
        Commitment[] memory list = commitments(order);
        bytes memory data = abi.encodeCall(escrow.settle, (order, funding, list));
        vm.chainId(THERE);
        refused(stranger, address(escrow), data, IEscrow.WrongChain.selector, "the order names its chain");
        depositTaker(address(usd), IN);
        order.originChainId = THERE;
        order.outputs[0].chainId = THERE;
        vm.chainId(HERE);
        bytes memory old = byLedger(order);
        vm.chainId(THERE);
        refusedSettle(order, old, commitments(order), BAD, "the old branch's separator");
        escrow.settle(order, byLedger(order), commitments(order));
        eq(status(idOf(order)), 2, "settled on the new branch under its own separator");
    }

    /// @dev The struct hash and the id, with nothing but the language's own encoder.
    function test_6_hashesAreThoseOfTheStandard(StandardOrder memory order) public view {
        (uint256[2][] memory ins, MandateOutput[] memory outs) = (order.inputs, order.outputs);
        assembly ("memory-safe") {
            if gt(mload(ins), 5) { mstore(ins, 5) }
            if gt(mload(outs), 5) { mstore(outs, 5) }
        }
        bytes memory rows;
        for (uint256 i; i < order.outputs.length; ++i) {
            rows = abi.encodePacked(rows, outputStruct(order.outputs[i]));
        }
        bytes memory inputs;
        for (uint256 j; j < order.inputs.length; ++j) {
            inputs = abi.encodePacked(inputs, keccak256(abi.encode(order.inputs[j][0], order.inputs[j][1])));
        }
        bytes32 expected = keccak256(
            abi.encodePacked(
                abi.encode(OrderLib.STANDARD_ORDER_TYPEHASH, order.user, order.nonce, order.originChainId),
                abi.encode(order.expires, order.fillDeadline, order.inputOracle, keccak256(inputs), keccak256(rows))
            )
        );
        eq(hashes.structHash(order), expected, "struct hash");
        eq(escrow.orderIdentifier(order), plainId(order), "id");
    }

    function outputStruct(MandateOutput memory o) private pure returns (bytes32) {
        return keccak256(
            abi.encode(
                OrderLib.MANDATE_OUTPUT_TYPEHASH,
                o.oracle,
                o.settler,
                o.chainId,
                o.token,
                o.amount,
                o.recipient,
                keccak256(o.callbackData),
                keccak256(o.context)
            )
        );
    }

    function plainId(StandardOrder memory order) private view returns (bytes32) {
        bytes memory inputs;
        for (uint256 j; j < order.inputs.length; ++j) {
            inputs = abi.encodePacked(inputs, order.inputs[j][0], order.inputs[j][1]);
        }
        return keccak256(
            abi.encodePacked(
                abi.encodePacked(block.chainid, address(escrow), order.user, order.nonce),
                abi.encodePacked(order.expires, order.fillDeadline, order.inputOracle, keccak256(inputs)),
                abi.encode(order.outputs)
            )
        );
    }

    /// @dev A signature that recovers to nobody signs for nobody, not even for address zero.
    function test_6_nobodyIsNoSigner() public {
        StandardOrder memory order = simple();
        order.user = address(0);
        bytes memory junk = abi.encodePacked(bytes32(uint256(1)), bytes32(uint256(1)), uint8(99));
        bytes memory funding = abi.encodePacked(bytes1(0x13), abi.encode(junk));
        refusedSettle(order, funding, IEscrow.InvalidRecipient.selector, "user zero");
        order = simple();
        Commitment[] memory list = commitments(order);
        order.outputs[0].context = quoteContext(address(0), order.fillDeadline, 10_000, FEE, RELAY);
        list[0].lp = address(0);
        list[0].signature = junk;
        refusedSettle(order, by3009(order), list, IEscrow.NotAnAddress.selector, "LP zero");
        vm.prank(lp(0));
        escrow.setOperator(address(0), true);
        order = simple();
        list = commitments(order);
        list[0].signature = junk;
        refusedSettle(order, by3009(order), list, BAD, "operator zero");
    }

    function test_6_malleableSignatures() public {
        StandardOrder memory order = simple();
        Commitment[] memory list = commitments(order);
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(OPERATOR, commitmentDigest(idOf(order), list[0]));
        uint256 n = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141;
        list[0].signature = abi.encodePacked(r, bytes32(n - uint256(s)), uint8(v == 27 ? 28 : 27));
        refusedSettle(order, by3009(order), list, BAD, "high s");
        list[0].signature = abi.encodePacked(r, s, v - 27);
        refusedSettle(order, by3009(order), list, BAD, "v of 0 or 1");
        list[0].signature = abi.encodePacked(r, s, v, uint8(0));
        refusedSettle(order, by3009(order), list, BAD, "66 bytes");
        list[0].signature = "";
        refusedSettle(order, by3009(order), list, BAD, "none");
        list[0].signature = abi.encodePacked(r, bytes32(uint256(s) | (v == 28 ? 1 << 255 : 0)));
        vm.prank(stranger);
        bytes memory funding = by3009(order);
        escrow.settle(order, funding, list);
    }

    /// @dev Bytes moved over the border of two members make another hash, and another order.
    function test_6_packedMembersDoNotCollide(bytes memory a, bytes memory b) public view {
        if (a.length == 0) a = hex"01";
        StandardOrder memory order;
        order.outputs = new MandateOutput[](1);
        order.outputs[0].callbackData = a;
        order.outputs[0].context = b;
        bytes32 id = escrow.orderIdentifier(order);
        bytes32 output = hashes.outputHash(order.outputs[0]);
        bytes32 payload = hashes.payloadHash(0, 0, 0, order.outputs[0]);
        bytes32 structHash = hashes.structHash(order);
        bytes memory shorter = new bytes(a.length - 1);
        for (uint256 i; i < shorter.length; ++i) {
            shorter[i] = a[i];
        }
        order.outputs[0].callbackData = shorter;
        order.outputs[0].context = abi.encodePacked(a[a.length - 1], b);
        ok(escrow.orderIdentifier(order) != id, "id");
        ok(hashes.outputHash(order.outputs[0]) != output, "output hash");
        ok(hashes.payloadHash(0, 0, 0, order.outputs[0]) != payload, "payload hash");
        ok(hashes.structHash(order) != structHash, "struct hash");
    }

    function test_6_lengthsThatDoNotFitTheirField() public {
        StandardOrder memory order = plain();
        order.outputs[0].callbackData = new bytes(65_536);
        refusedOpen(order, taker, "", IEscrow.TooLong.selector, "callbackData");
        bytes memory data = abi.encodeCall(escrow.fill, (0, order.outputs[0], order.fillDeadline, fillerData(lp(0))));
        refused(lp(0), address(escrow), data, IEscrow.TooLong.selector, "callbackData of a fill");
        order = plain();
        order.outputs[0].context = new bytes(65_536);
        refusedSettle(order, "", new Commitment[](1), IEscrow.InvalidContext.selector, "context");
    }

    /* 7. ERC-1271 */

    function withLp(address account) private returns (StandardOrder memory order, Commitment[] memory list) {
        order = blank(IN, 1);
        order.outputs[0] = output(escrow, HERE, OUT, quoteContext(account, order.fillDeadline, 10_000, FEE, RELAY));
        fundLp(account, address(weth), 10e18);
        list = commitments(order);
    }

    /// @dev Two wallets of one owner: what is signed for one is void for the other, as taker and as LP.
    function test_7_sameOwnerTwoWallets() public {
        DevWallet a = new DevWallet(vm.addr(OPERATOR));
        DevWallet b = new DevWallet(vm.addr(OPERATOR));
        (StandardOrder memory order, Commitment[] memory list) = withLp(address(a));
        fundLp(address(b), address(weth), 10e18);
        StandardOrder memory other = copy(order);
        other.outputs[0].context = quoteContext(address(b), order.fillDeadline, 10_000, FEE, RELAY);
        list[0].lp = address(b);
        refusedSettle(other, by3009(other), list, BAD, "LP");
        list[0].lp = address(a);
        order.user = address(a);
        depositFor(address(a), IN);
        depositFor(address(b), IN);
        bytes memory funding = abi.encodePacked(bytes1(0x13), abi.encode(sign(OPERATOR, orderDigest(order))));
        other = copy(order);
        other.user = address(b);
        refusedSettle(other, funding, commitments(other), BAD, "taker");
        vm.prank(stranger);
        bytes memory data = abi.encodeCall(escrow.settle, (order, funding, commitments(order)));
        (bool success,) = address(escrow).call(data);
        ok(success, "the one that was signed for");
    }

    function depositFor(address account, uint256 amount) private {
        usd.mint(address(this), amount);
        usd.approve(address(escrow), amount);
        escrow.depositFor(account, address(usd), amount);
    }

    function test_7_walletsThatDoNotSayYes() public {
        Wallet.Answer[5] memory kinds = [
            Wallet.Answer.WrongMagic,
            Wallet.Answer.Short,
            Wallet.Answer.Revert,
            Wallet.Answer.BurnGas,
            Wallet.Answer.RevertBomb
        ];
        for (uint256 i; i < kinds.length; ++i) {
            Wallet wallet = new Wallet(kinds[i], address(escrow));
            (StandardOrder memory order, Commitment[] memory list) = withLp(address(wallet));
            list[0].signature = hex"00";
            refusedSettle(order, by3009(order), list, BAD, vm.toString(i));
        }
        Wallet bomb = new Wallet(Wallet.Answer.Bomb, address(escrow));
        (StandardOrder memory o, Commitment[] memory l) = withLp(address(bomb));
        l[0].signature = hex"00";
        refusedSettle(o, by3009(o), l, BAD, "a long answer of zeros");
    }

    /// @dev Whatever the wallet does, the call costs no more than its cap and the ordinary settlement.
    function test_7_gasIsBounded() public {
        Wallet.Answer[4] memory kinds =
            [Wallet.Answer.BurnGas, Wallet.Answer.Bomb, Wallet.Answer.RevertBomb, Wallet.Answer.Accept];
        for (uint256 i; i < kinds.length; ++i) {
            Wallet wallet = new Wallet(kinds[i], address(escrow));
            (StandardOrder memory order, Commitment[] memory list) = withLp(address(wallet));
            list[0].signature = hex"00";
            bytes memory data = abi.encodeCall(escrow.settle, (order, by3009(order), list));
            uint256 before = gasleft();
            (bool success,) = address(escrow).call(data);
            uint256 used = before - gasleft();
            vm.assertLe(used, 900_000, "gas");
            ok(success == (kinds[i] == Wallet.Answer.Accept), "only the one that accepts");
        }
    }

    /// @dev isValidSignature is called as a view, so it cannot come back in to change anything.
    function test_7_reentrantWallet() public {
        Wallet wallet = new Wallet(Wallet.Answer.Reenter, address(escrow));
        (StandardOrder memory order, Commitment[] memory list) = withLp(address(wallet));
        list[0].signature = hex"00";
        bytes memory funding = by3009(order);
        vm.prank(stranger);
        escrow.settle(order, funding, list);
        eq(wallet.touched(), 0, "nothing was written");
        ok(!escrow.isNonceUsed(address(wallet), 1), "nor here");
    }
}
