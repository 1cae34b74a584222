// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevWallet} from "../../src/devnet/DevWallet.sol";
import {IEscrow, MandateOutput, OrderStatus, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {Base} from "../support/Base.sol";

/// @notice open and openFor: every funding mode, and what neither takes.
contract OpenTest is Base {
    function openFor(StandardOrder memory order, address sponsor, bytes memory funding) internal {
        vm.prank(stranger);
        escrow.openFor(order, sponsor, funding);
    }

    function refuse(StandardOrder memory order, address sponsor, bytes memory funding, bytes memory reason) internal {
        vm.prank(stranger);
        vm.expectRevert(reason);
        escrow.openFor(order, sponsor, funding);
    }

    function refuse(StandardOrder memory order, bytes memory reason) internal {
        refuse(order, taker, by3009(order), reason);
    }

    function isOpen(StandardOrder memory order, bool nonceUsed) internal view {
        eq(status(idOf(order)), uint256(OrderStatus.Deposited), "deposited");
        ok(escrow.isNonceUsed(order.user, order.nonce) == nonceUsed, "nonce");
    }

    /* MODES */

    function test_fuzz_open_by_the_user(uint256 amount) public {
        StandardOrder memory order = cross();
        order.inputs[0][1] = amount = bound(amount, RELAY + RELAY, 1_000_000e6);
        bytes32 orderId = idOf(order);
        vm.startPrank(taker);
        usd.approve(address(escrow), amount);
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.Open(orderId, order);
        escrow.open(order);
        vm.stopPrank();
        isOpen(order, true);
        eq(usd.balanceOf(taker), 1_000_000e6 - amount, "paid");
        eq(usd.balanceOf(address(escrow)), 3_000_000e6 + amount, "held");
        eq(usd.allowance(taker, address(escrow)), 0, "allowance used up");
    }

    function test_open_by_anybody_else() public {
        StandardOrder memory order = cross();
        usd.mint(stranger, IN);
        vm.startPrank(stranger);
        usd.approve(address(escrow), IN);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.NotTheUser.selector, stranger));
        escrow.open(order);
        vm.stopPrank();
    }

    function test_mode_self() public {
        StandardOrder memory order = cross();
        vm.startPrank(taker);
        usd.approve(address(escrow), 2 * IN);
        escrow.openFor(order, taker, hex"ff");
        StandardOrder memory next = cross();
        escrow.openFor(next, taker, "");
        vm.stopPrank();
        isOpen(order, true);
        isOpen(next, true);
        next = cross();
        refuse(next, taker, hex"ff", abi.encodeWithSelector(IEscrow.NotTheUser.selector, stranger));
        refuse(next, stranger, hex"ff", abi.encodeWithSelector(IEscrow.NotTheUser.selector, stranger));
    }

    function test_mode_witness_by_the_user() public {
        StandardOrder memory order = cross();
        openFor(order, taker, byWitness(order, TAKER));
        isOpen(order, true);
        eq(usd.balanceOf(address(escrow)), 3_000_000e6 + IN, "held");
        refuse(order, taker, byWitness(order, TAKER), badStatus(idOf(order), OrderStatus.Deposited));
    }

    function test_mode_witness_by_a_sponsor_leaves_the_users_nonce() public {
        StandardOrder memory order = toOpen(plain());
        usd.mint(stranger, IN);
        vm.prank(stranger);
        usd.approve(address(permit2), IN);
        escrow.openFor(order, stranger, byWitness(order, STRANGER));
        isOpen(order, false);
        eq(usd.balanceOf(stranger), 0, "the sponsor paid");
    }

    /// @dev N07: a sponsor leaves the nonce alone, so all quotes of one nonce could be opened, of which an LP holds money for one.
    function test_a_quote_is_opened_by_its_user_alone() public {
        StandardOrder memory order = cross();
        usd.mint(stranger, IN);
        refuse(order, stranger, byWitness(order, STRANGER), abi.encodeWithSelector(IEscrow.NotTheUser.selector, stranger));
        refuse(order, stranger, byOrder3009(order, STRANGER), abi.encodeWithSelector(IEscrow.NotTheUser.selector, stranger));
        openFor(order, taker, byOrder3009(order, TAKER));
        isOpen(order, true);
        StandardOrder memory same = cross();
        same.nonce = order.nonce;
        same.outputs[0].amount -= 1;
        refuse(same, taker, byOrder3009(same, TAKER), abi.encodeWithSelector(IEscrow.NonceUsed.selector, taker, same.nonce));
    }

    function test_mode_witness_of_two_inputs() public {
        StandardOrder memory order = cross();
        order.inputs = new uint256[2][](2);
        order.inputs[0] = [uint256(uint160(address(usd))), IN];
        order.inputs[1] = [uint256(uint160(address(weth))), 2e18];
        openFor(order, taker, byWitness(order, TAKER));
        eq(weth.balanceOf(address(escrow)), 3002e18, "second input");
    }

    function test_mode_witness_refuses_other_signers() public {
        StandardOrder memory order = cross();
        bytes memory funding = byWitness(order, STRANGER);
        vm.prank(stranger);
        vm.expectRevert();
        escrow.openFor(order, taker, funding);
    }

    function test_mode_order3009() public {
        StandardOrder memory order = cross();
        openFor(order, taker, byOrder3009(order, TAKER));
        isOpen(order, true);
    }

    function test_mode_order3009_by_a_sponsor() public {
        StandardOrder memory order = toOpen(plain());
        usd.mint(stranger, IN);
        openFor(order, stranger, byOrder3009(order, STRANGER));
        isOpen(order, false);
    }

    function test_mode_order3009_of_two_inputs() public {
        StandardOrder memory order = cross();
        order.inputs = new uint256[2][](2);
        order.inputs[0] = [uint256(uint160(address(usd))), IN];
        // A second token of the same kind.
        address other = address(new OtherUsd());
        OtherUsd(other).mint(taker, 7e6);
        order.inputs[1] = [uint256(uint160(other)), 7e6];
        bytes[] memory signatures = new bytes[](2);
        signatures[0] = sign(TAKER, receiveDigest(address(escrow), taker, IN, 0, order.fillDeadline, idOf(order)));
        signatures[1] = "any";
        bytes memory funding = abi.encodePacked(bytes1(0x01), abi.encode(signatures));
        openFor(order, taker, funding);
        isOpen(order, true);
        eq(OtherUsd(other).balanceOf(address(escrow)), 7e6, "the form that takes bytes");
    }

    function test_mode_order3009_of_two_inputs_needs_two_signatures() public {
        StandardOrder memory order = cross();
        order.inputs = new uint256[2][](2);
        order.inputs[0] = [uint256(uint160(address(usd))), IN];
        order.inputs[1] = [uint256(uint160(address(weth))), IN];
        bytes memory funding = abi.encodePacked(bytes1(0x01), abi.encode(new bytes[](1)));
        refuse(order, taker, funding, err(IEscrow.LengthMismatch.selector, 2, 1));
    }

    function test_mode_grant() public {
        StandardOrder memory order = cross();
        grant(address(usd), uint160(IN));
        openFor(order, taker, byGrant(order));
        isOpen(order, true);
        (uint160 left,,) = permit2.allowance(taker, address(usd), address(escrow));
        eq(left, 0, "grant used up");
        StandardOrder memory next = cross();
        bytes memory funding = byGrant(next);
        vm.prank(stranger);
        vm.expectRevert(abi.encodeWithSignature("InsufficientAllowance(uint256)", 0));
        escrow.openFor(next, taker, funding);
    }

    function test_open_refuses_amounts_that_no_token_has() public {
        StandardOrder memory order = plain();
        order.inputs[0][1] = 1 << 128;
        refuse(order, taker, byGrant(order), err(IEscrow.AmountTooLarge.selector, 1 << 128));
    }

    function test_mode_inline() public {
        StandardOrder memory order = cross();
        openFor(order, taker, byInline(order, block.timestamp));
        isOpen(order, true);
    }

    function test_mode_inline_refuses_a_stale_permit() public {
        StandardOrder memory order = cross();
        bytes memory funding = byInline(order, block.timestamp - 1);
        vm.prank(stranger);
        vm.expectRevert(abi.encodeWithSignature("SignatureExpired(uint256)", block.timestamp - 1));
        escrow.openFor(order, taker, funding);
    }

    function test_mode_3009() public {
        StandardOrder memory order = cross();
        openFor(order, taker, by3009(order));
        isOpen(order, true);
        eq(usd.balanceOf(address(escrow)), 3_000_000e6 + IN, "held");
    }

    function test_mode_3009_needs_one_input() public {
        StandardOrder memory order = cross();
        bytes memory funding = by3009(order);
        order.inputs = new uint256[2][](2);
        order.inputs[0] = [uint256(uint160(address(usd))), IN];
        order.inputs[1] = [uint256(uint160(address(weth))), 1];
        funding = by3009(order);
        refuse(order, taker, funding, err(IEscrow.NotOneInput.selector, 2));
    }

    function test_mode_3009_with_compact_signatures() public {
        StandardOrder memory order = cross();
        uint256 before = order.fillDeadline + 1;
        bytes32 nonce = keccak256("n");
        bytes32 digest = receiveDigest(address(escrow), taker, IN, 0, before, nonce);
        bytes memory funding = abi.encodePacked(
            bytes1(0x12), abi.encode(compact(orderSignature(order)), 0, before, nonce, compact(sign(TAKER, digest)))
        );
        openFor(order, taker, funding);
        isOpen(order, true);
    }

    function compact(bytes memory signature) internal pure returns (bytes memory) {
        bytes32 r;
        bytes32 s;
        uint8 v;
        assembly ("memory-safe") {
            r := mload(add(signature, 0x20))
            s := mload(add(signature, 0x40))
            v := byte(0, mload(add(signature, 0x60)))
        }
        return abi.encodePacked(r, s | bytes32(uint256(v - 27) << 255));
    }

    function test_mode_ledger() public {
        StandardOrder memory order = cross();
        depositTaker(address(usd), IN + 5);
        openFor(order, taker, byLedger(order));
        isOpen(order, true);
        eq(escrow.balanceOf(taker, address(usd)), 5, "debited");
        StandardOrder memory next = cross();
        refuse(
            next,
            taker,
            byLedger(next),
            abi.encodeWithSelector(IEscrow.InsufficientBalance.selector, taker, address(usd), 5, IN)
        );
    }

    function test_unknown_modes() public {
        StandardOrder memory order = cross();
        bytes1[5] memory modes = [bytes1(0x02), 0x0f, 0x14, 0x80, 0xfe];
        for (uint256 i; i < modes.length; ++i) {
            refuse(
                order,
                taker,
                abi.encodePacked(modes[i]),
                abi.encodeWithSelector(IEscrow.UnknownFundingMode.selector, modes[i])
            );
        }
    }

    function test_modes_with_an_order_signature_need_it_from_the_user() public {
        StandardOrder memory order = cross();
        grant(address(usd), uint160(IN));
        depositTaker(address(usd), IN);
        bytes memory wrong = sign(STRANGER, orderDigest(order));
        refuse(order, taker, abi.encodePacked(bytes1(0x10), abi.encode(wrong)), badSigner(taker));
        refuse(
            order,
            taker,
            abi.encodePacked(bytes1(0x11), abi.encode(wrong, block.timestamp, bytes("permit"))),
            badSigner(taker)
        );
        refuse(
            order,
            taker,
            abi.encodePacked(bytes1(0x12), abi.encode(wrong, 0, block.timestamp, bytes32(0), bytes("auth"))),
            badSigner(taker)
        );
        refuse(order, taker, abi.encodePacked(bytes1(0x13), abi.encode(wrong)), badSigner(taker));
        for (uint256 i; i < 4; ++i) {
            bytes memory funding = abi.encodePacked(bytes1(uint8(0x10 + i)), abi.encode(wrong));
            refuse(order, stranger, funding, abi.encodeWithSelector(IEscrow.NotTheUser.selector, stranger));
        }
    }

    function test_an_operator_does_not_sign_orders() public {
        StandardOrder memory order = cross();
        depositTaker(address(usd), IN);
        vm.prank(taker);
        escrow.setOperator(stranger, true);
        bytes memory funding = abi.encodePacked(bytes1(0x13), abi.encode(sign(STRANGER, orderDigest(order))));
        refuse(order, taker, funding, badSigner(taker));
    }

    function test_funding_that_is_no_encoding() public {
        StandardOrder memory order = cross();
        bytes memory reason = err(IEscrow.InvalidPayload.selector);
        refuse(order, taker, hex"13", reason);
        refuse(order, taker, abi.encodePacked(bytes1(0x13), uint256(32)), reason);
        refuse(order, taker, abi.encodePacked(bytes1(0x13), uint256(0)), badSigner(taker));
        refuse(order, taker, abi.encodePacked(bytes1(0x13), uint256(32), uint256(0)), badSigner(taker));
        refuse(order, taker, abi.encodePacked(bytes1(0x13), uint256(33), uint256(0)), reason);
        refuse(order, taker, abi.encodePacked(bytes1(0x13), uint256(32), uint256(1)), reason);
        refuse(order, taker, abi.encodePacked(bytes1(0x13), type(uint256).max, uint256(0)), reason);
        refuse(order, taker, abi.encodePacked(bytes1(0x13), uint256(32), type(uint256).max), reason);
    }

    function test_contract_wallets_open() public {
        DevWallet wallet = new DevWallet(vm.addr(TAKER));
        usd.mint(address(wallet), IN);
        StandardOrder memory order = cross();
        order.user = address(wallet);
        bytes32 nonce = keccak256("n");
        uint256 before = order.fillDeadline;
        bytes memory auth = abi.encodePacked(
            sign(TAKER, receiveDigest(address(escrow), address(wallet), IN, 0, before, nonce))
        );
        bytes memory funding =
            abi.encodePacked(bytes1(0x12), abi.encode(orderSignature(order), 0, before, nonce, auth));
        // A token with the standard's form alone knows no contract signatures: the wallet funds in another way.
        vm.prank(stranger);
        vm.expectRevert();
        escrow.openFor(order, address(wallet), funding);

        vm.startPrank(taker);
        wallet.execute(address(usd), 0, abi.encodeCall(usd.approve, (address(permit2), IN)));
        bytes memory data = abi.encodeCall(
            permit2.approve, (address(usd), address(escrow), uint160(IN), uint48(block.timestamp + 1))
        );
        wallet.execute(address(permit2), 0, data);
        vm.stopPrank();
        openFor(order, address(wallet), byGrant(order));
        isOpen(order, true);
    }

    /* REFUSALS */

    function test_open_refuses_the_last_second() public {
        StandardOrder memory order = cross();
        bytes memory funding = by3009(order);
        vm.warp(order.fillDeadline);
        refuse(
            order, taker, funding, err(IEscrow.DeadlinePassed.selector, order.fillDeadline, block.timestamp + 1)
        );
        vm.warp(order.fillDeadline - 1);
        openFor(order, taker, funding);
    }

    function test_open_refuses_short_proof_windows() public {
        StandardOrder memory order = cross();
        order.expires = order.fillDeadline + uint32(PROOF) - 1;
        refuse(order, err(IEscrow.ProofWindowTooShort.selector, PROOF - 1, PROOF));
        order.expires = order.fillDeadline - 1;
        refuse(order, err(IEscrow.ProofWindowTooShort.selector, 0, PROOF));
        order.expires = order.fillDeadline + uint32(PROOF);
        openFor(order, taker, by3009(order));
    }

    function test_open_refuses_oracles() public {
        StandardOrder memory order = cross();
        order.inputOracle = stranger;
        refuse(order, abi.encodeWithSelector(IEscrow.NoCode.selector, stranger));
        order.inputOracle = address(escrow);
        refuse(order, err(IEscrow.Unprovable.selector, 0));
        refuse(simple(), wrongOracle(address(escrow)));
        order = plain();
        order.outputs[0].oracle = word(address(oracle));
        refuse(order, err(IEscrow.Unprovable.selector, 0));
        order = plain();
        order.outputs = new MandateOutput[](2);
        order.outputs[0] = output(escrow, HERE, OUT, "");
        order.outputs[1] = output(remote, HERE, OUT, "");
        refuse(order, err(IEscrow.Unprovable.selector, 1));
    }

    function test_open_refuses_what_could_not_be_divided() public {
        StandardOrder memory order = cross();
        order.outputs[0].context = quoteContext(lp(0), order.fillDeadline, 10_000, 0, uint128(IN + 1));
        refuse(order, err(IEscrow.FeesExceedSlice.selector, IN + 1, IN));
        order = cross();
        order.inputs[0][1] = 1 << 128;
        refuse(order, err(IEscrow.AmountTooLarge.selector, 1 << 128));
    }

    function test_open_refuses_what_settle_refuses_of_an_order() public {
        StandardOrder memory order = cross();
        order.originChainId = THERE;
        refuse(order, err(IEscrow.WrongChain.selector, THERE, HERE));
        order = cross();
        order.user = address(0);
        refuse(order, abi.encodeWithSelector(IEscrow.InvalidRecipient.selector, address(0)));
        order = cross();
        order.inputs[0][1] = 0;
        refuse(order, err(IEscrow.ZeroValue.selector));
        order = cross();
        bytes memory funding = by3009(order);
        order.inputs = new uint256[2][](0);
        refuse(order, taker, funding, err(IEscrow.ZeroValue.selector));
        order.outputs = new MandateOutput[](0);
        refuse(order, taker, funding, err(IEscrow.ZeroValue.selector));
        order = split(IN, OUT);
        order.outputs[1] = order.outputs[0];
        refuse(order, duplicate(order.outputs[0]));
        // One fill would prove both: a FillDescription does not say for which oracle.
        order = toOpen(split(IN, OUT));
        order.outputs[2] = cross().outputs[0];
        order.outputs[1] = cross().outputs[0];
        order.outputs[1].oracle = word(stranger);
        refuse(order, duplicate(order.outputs[1]));
        order = cross();
        order.outputs[0].context = hex"01";
        refuse(order, abi.encodeWithSelector(IEscrow.InvalidContext.selector, hex"01"));
        order.outputs[0].context = quoteContext(lp(0), order.fillDeadline, 9_999, FEE, 0);
        refuse(order, err(IEscrow.InvalidPortions.selector, 9_999));
        order.outputs[0].context = quoteContext(lp(0), order.fillDeadline, 10_000, uint16(MAX_FEE + 1), 0);
        refuse(order, err(IEscrow.InvalidFee.selector, MAX_FEE + 1));
    }

    function test_open_takes_plain_contexts() public {
        bytes[3] memory contexts = [bytes(""), hex"00", abi.encodePacked(bytes1(0xe0), word(lp(0)), uint32(5))];
        for (uint256 i; i < 3; ++i) {
            StandardOrder memory order = plain();
            order.outputs[0].context = contexts[i];
            openFor(order, taker, by3009(order));
            isOpen(order, true);
        }
        StandardOrder memory bad = plain();
        bad.outputs[0].context = hex"0000";
        refuse(bad, abi.encodeWithSelector(IEscrow.InvalidContext.selector, hex"0000"));
        bad.outputs[0].context = abi.encodePacked(bytes1(0xe0), word(lp(0)));
        refuse(bad, abi.encodeWithSelector(IEscrow.InvalidContext.selector, bad.outputs[0].context));
    }

    function test_open_refuses_used_nonces_and_settled_orders() public {
        StandardOrder memory order = cross();
        bytes32 orderId = openOrder(order);
        refuse(order, badStatus(orderId, OrderStatus.Deposited));
        order = simple();
        settle(order);
        StandardOrder memory twin = cross();
        twin.nonce = order.nonce;
        refuse(twin, abi.encodeWithSelector(IEscrow.NonceUsed.selector, taker, order.nonce));
    }

    function test_open_refuses_tokens_without_code() public {
        StandardOrder memory order = cross();
        order.inputs[0][0] = uint160(address(0xdead));
        vm.prank(taker);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.NotAToken.selector, address(0xdead)));
        escrow.open(order);
    }
}

/// @notice Pays by receiveWithAuthorization with bytes, whatever they are.
contract OtherUsd {
    mapping(address => uint256) public balanceOf;

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256,
        uint256,
        bytes32,
        bytes calldata
    ) external {
        balanceOf[from] -= value;
        balanceOf[to] += value;
    }
}
