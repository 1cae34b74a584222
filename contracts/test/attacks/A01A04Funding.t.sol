// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IEscrow, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {IPermit2} from "../../src/interfaces/IPermit2.sol";
import {AwkwardToken} from "../mocks/AwkwardToken.sol";
import {Attack} from "./Attack.sol";

interface IPermit2Errors {
    error InvalidSigner();
    error InvalidNonce();
    error SignatureExpired(uint256 deadline);
    error AllowanceExpired(uint256 deadline);
    error InsufficientAllowance(uint256 amount);

    function permitTransferFrom(
        IPermit2.PermitBatchTransferFrom memory permit,
        IPermit2.SignatureTransferDetails[] calldata transferDetails,
        address owner,
        bytes calldata signature
    ) external;
}

interface I3009 {
    error ERC3009InvalidSignature();
    error ERC20InvalidReceiver(address receiver);
    error ERC3009UsedAuthorization(address authorizer, bytes32 nonce);
    error ERC3009InvalidAuthorizationTime(uint256 validAfter, uint256 validBefore);
}

/// @notice Groups 1 to 4: Permit2, opens by strangers, ERC-3009, the ledger as a resource lock.
contract FundingAttacksTest is Attack {
    bytes4 private constant BAD_SIGNER = IPermit2Errors.InvalidSigner.selector;

    /* 1. PERMIT2 */

    function permitOf(StandardOrder memory order, uint256 until)
        private
        view
        returns (IPermit2.PermitBatchTransferFrom memory p, IPermit2.SignatureTransferDetails[] memory d)
    {
        p.permitted = new IPermit2.TokenPermissions[](1);
        p.permitted[0] = IPermit2.TokenPermissions(address(usd), order.inputs[0][1]);
        p.nonce = order.nonce;
        p.deadline = until;
        d = new IPermit2.SignatureTransferDetails[](1);
        d[0] = IPermit2.SignatureTransferDetails(stranger, order.inputs[0][1]);
    }

    function test_1_theWitnessSignatureIsUselessWithoutTheEscrow() public {
        StandardOrder memory order = simple();
        (IPermit2.PermitBatchTransferFrom memory p, IPermit2.SignatureTransferDetails[] memory d) =
            permitOf(order, order.fillDeadline);
        bytes memory signature = permitSignature(order, order.fillDeadline, TAKER);
        bytes memory bare = abi.encodeCall(IPermit2Errors.permitTransferFrom, (p, d, taker, signature));
        refused(stranger, address(permit2), bare, BAD_SIGNER, "without a witness");
        // The same witness, but the spender is whoever calls Permit2.
        bytes memory full = abi.encodeCall(
            permit2.permitWitnessTransferFrom,
            (p, d, taker, hashes.witnessHash(order), witnessTypes(), signature)
        );
        refused(stranger, address(permit2), full, BAD_SIGNER, "with the witness");
    }

    function witnessTypes() private pure returns (string memory) {
        return "Permit2Witness witness)MandateOutput(bytes32 oracle,bytes32 settler,uint256 chainId,bytes32 token,uint256 amount,bytes32 recipient,bytes callbackData,bytes context)Permit2Witness(address user,uint32 expires,address inputOracle,MandateOutput[] outputs)TokenPermissions(address token,uint256 amount)";
    }

    /// @dev A permit that names the escrow but no witness could be paired with any order.
    function test_1_aPermitWithoutAWitnessOpensNothing() public {
        StandardOrder memory order = toOpen(simple());
        bytes32 row =
            keccak256(abi.encode(keccak256("TokenPermissions(address token,uint256 amount)"), address(usd), IN));
        bytes32 structHash = keccak256(
            abi.encode(
                keccak256(
                    "PermitBatchTransferFrom(TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline)TokenPermissions(address token,uint256 amount)"
                ),
                keccak256(abi.encodePacked(row)),
                address(escrow),
                order.nonce,
                uint256(order.fillDeadline)
            )
        );
        bytes memory signature =
            sign(TAKER, keccak256(abi.encodePacked("\x19\x01", permit2.DOMAIN_SEPARATOR(), structHash)));
        refusedOpen(order, taker, abi.encodePacked(bytes1(0x00), signature), BAD_SIGNER, "mode 0x00");
        bytes memory eleven = abi.encode(orderSignature(order), uint256(order.fillDeadline), signature);
        refusedOpen(order, taker, abi.encodePacked(bytes1(0x11), eleven), BAD_SIGNER, "mode 0x11");
    }

    function test_1_aPermitPaysOnlyForItsOwnOrder() public {
        StandardOrder memory order = toOpen(simple());
        bytes memory funding = byWitness(order, TAKER);
        StandardOrder memory other = toOpen(simple());
        other.nonce = order.nonce;
        other.outputs[0].recipient = word(stranger);
        refusedOpen(other, taker, funding, BAD_SIGNER, "another recipient");
        other = abi.decode(abi.encode(order), (StandardOrder));
        other.outputs[0].amount -= 1;
        refusedOpen(other, taker, funding, BAD_SIGNER, "another amount");
        other = abi.decode(abi.encode(order), (StandardOrder));
        other.expires += 1;
        refusedOpen(other, taker, funding, BAD_SIGNER, "another expiry");
        other = abi.decode(abi.encode(order), (StandardOrder));
        other.inputOracle = address(permit2);
        refusedOpen(other, taker, funding, BAD_SIGNER, "another oracle");
        other = abi.decode(abi.encode(order), (StandardOrder));
        other.user = stranger;
        refusedOpen(other, taker, funding, IEscrow.NotTheUser.selector, "another user");
        StandardOrder memory gift = toOpen(plain());
        bytes memory ofGift = byWitness(gift, TAKER);
        gift.user = stranger;
        refusedOpen(gift, taker, ofGift, BAD_SIGNER, "another user of an order that may be sponsored");
        other = abi.decode(abi.encode(order), (StandardOrder));
        other.inputs[0][1] += 1;
        refusedOpen(other, taker, funding, BAD_SIGNER, "more than permitted");
        other = abi.decode(abi.encode(order), (StandardOrder));
        secondInput(other, 1);
        refusedOpen(other, taker, funding, BAD_SIGNER, "more inputs than permitted");
        secondInput(order, 1);
        funding = byWitness(order, TAKER);
        order.inputs = other.inputs;
        uint256[2][] memory first = new uint256[2][](1);
        first[0] = order.inputs[0];
        order.inputs = first;
        refusedOpen(order, taker, funding, BAD_SIGNER, "fewer inputs than permitted");
    }

    function test_1_wrongSpender() public {
        StandardOrder memory order = toOpen(simple());
        IEscrow here = escrow;
        escrow = remote;
        bytes memory funding = byWitness(order, TAKER);
        escrow = here;
        refusedOpen(order, taker, funding, BAD_SIGNER, "a permit for another escrow");
    }

    function test_1_staleDeadline() public {
        StandardOrder memory order = toOpen(simple());
        bytes memory funding = byInline(order, block.timestamp - 1);
        refusedOpen(order, taker, funding, IPermit2Errors.SignatureExpired.selector, "0x11 by its own deadline");
        funding = byWitness(order, TAKER);
        vm.warp(order.fillDeadline + 1);
        refusedOpen(order, taker, funding, IEscrow.DeadlinePassed.selector, "0x00 by the order's");
    }

    function test_1_nonceReplay() public {
        StandardOrder memory order = toOpen(simple());
        bytes memory funding = byWitness(order, TAKER);
        vm.prank(stranger);
        escrow.openFor(order, taker, funding);
        refusedOpen(order, taker, funding, IEscrow.InvalidOrderStatus.selector, "the same order");
        StandardOrder memory other = toOpen(simple());
        other.nonce = order.nonce;
        other.outputs[0].amount -= 1;
        refusedOpen(other, taker, byWitness(other, TAKER), IEscrow.NonceUsed.selector, "another order, same nonce");
        // A sponsor's nonce is Permit2's alone.
        other = toOpen(plain());
        other.nonce = order.nonce;
        other.user = stranger;
        refusedOpen(other, taker, byWitness(other, TAKER), IPermit2Errors.InvalidNonce.selector, "as a sponsor");
    }

    /// @dev Whatever the user does to its money after it has signed, the settlement fails whole and the LP keeps its own.
    function test_1_theUserBacksOut() public {
        StandardOrder memory order = simple();
        bytes memory funding = byInline(order, order.fillDeadline);
        vm.prank(taker);
        permit2.invalidateUnorderedNonces(order.nonce >> 8, 1 << (order.nonce & 0xff));
        refusedSettle(order, funding, IPermit2Errors.InvalidNonce.selector, "nonce invalidated at Permit2");
        order = simple();
        funding = byInline(order, order.fillDeadline);
        vm.prank(taker);
        escrow.invalidateNonce(order.nonce);
        refusedSettle(order, funding, IEscrow.NonceUsed.selector, "nonce invalidated here");
        order = simple();
        funding = byInline(order, order.fillDeadline);
        vm.prank(taker);
        usd.approve(address(permit2), 0);
        refusedSettle(order, funding, bytes4(keccak256("Error(string)")), "approval revoked");
        order = simple();
        funding = by3009(order);
        uint256 all = usd.balanceOf(taker);
        vm.prank(taker);
        usd.transfer(address(0x1234), all);
        refusedSettle(order, funding, bytes4(0xe450d38c), "wallet emptied");
    }

    function test_1_grants() public {
        StandardOrder memory order = toOpen(simple());
        bytes memory funding = byGrant(order);
        refusedOpen(order, taker, funding, IPermit2Errors.AllowanceExpired.selector, "no grant");
        grant(address(usd), uint160(IN - 1));
        refusedOpen(order, taker, funding, IPermit2Errors.InsufficientAllowance.selector, "too small a grant");
        grant(address(usd), type(uint160).max);
        bytes memory forged = abi.encodePacked(bytes1(0x10), abi.encode(sign(STRANGER, orderDigest(order))));
        refusedOpen(order, taker, forged, IEscrow.InvalidSignature.selector, "a grant is no order");
        vm.warp(block.timestamp + 2 days);
        order = toOpen(simple());
        refusedOpen(order, taker, byGrant(order), IPermit2Errors.AllowanceExpired.selector, "lapsed");
        order = toOpen(simple());
        order.inputs[0][1] = uint256(1) << 128;
        refusedOpen(order, taker, byGrant(order), IEscrow.AmountTooLarge.selector, "larger than any token");
    }

    /// @dev Somebody else was first: the order is open as it was meant to be, and that is what the loser finds.
    function test_1_2_whoeverOpensTheResultIsTheSame(uint256 who) public {
        address caller = vm.addr(bound(who, 1, type(uint64).max));
        StandardOrder memory order = toOpen(simple());
        bytes memory funding = byWitness(order, TAKER);
        uint256 had = usd.balanceOf(taker);
        uint256 callerHad = usd.balanceOf(caller) + ledger(caller, address(usd));
        vm.prank(caller);
        escrow.openFor(order, taker, funding);
        eq(status(idOf(order)), 1, "open");
        eq(usd.balanceOf(taker), had - IN, "paid by the taker");
        if (caller != taker) {
            eq(usd.balanceOf(caller) + ledger(caller, address(usd)), callerHad, "the caller gains nothing");
        }
        refusedOpen(order, taker, funding, IEscrow.InvalidOrderStatus.selector, "second");
        eq(status(idOf(order)), 1, "still open");
    }

    function test_1_tokensThatAreNone() public {
        StandardOrder memory order = toOpen(simple());
        order.inputs[0][0] = uint160(address(0xc0de));
        vm.prank(taker);
        (bool success, bytes memory answer) = address(escrow).call(abi.encodeCall(escrow.open, (order)));
        ok(!success && bytes4(answer) == IEscrow.NotAToken.selector, "no code");
        // A precompile answers balanceOf with 32 bytes.
        order.inputs[0][0] = 2;
        vm.prank(taker);
        (success,) = address(escrow).call(abi.encodeCall(escrow.open, (order)));
        ok(!success, "a precompile");
        AwkwardToken fake = new AwkwardToken(18);
        fake.setAnswer(AwkwardToken.Answer.Lie);
        fake.mint(taker, IN);
        vm.prank(taker);
        fake.approve(address(escrow), IN);
        order.inputs[0][0] = uint160(address(fake));
        vm.prank(taker);
        (success, answer) = address(escrow).call(abi.encodeCall(escrow.open, (order)));
        ok(!success && bytes4(answer) == IEscrow.ShortTransfer.selector, "a token that only says so");
        refused(stranger, address(escrow), abi.encodeCall(escrow.deposit, (address(0xc0de), 1)), IEscrow.NotAToken.selector, "deposit without code");
    }

    /* 2. GRIEFING OPENS */

    /// @dev However little gas comes along, a call either does all of it or none.
    function test_2_gasIsAllOrNothing(uint256 gas_) public {
        gas_ = bound(gas_, 30_000, 700_000);
        StandardOrder memory order = simple();
        bytes memory data = abi.encodeCall(escrow.settle, (order, by3009(order), commitments(order)));
        bytes32 before = holdings();
        bytes32 orderId = idOf(order);
        vm.prank(stranger);
        (bool success,) = address(escrow).call{gas: gas_}(data);
        eq(status(orderId), success ? 2 : 0, "status");
        if (!success) eq(holdings(), before, "nothing moved");
        else eq(weth.balanceOf(recipient), OUT + 1, "delivered");
    }

    /// @dev A refund's caller cannot starve the push of gas to leave the user with a credit instead of tokens.
    function test_2_gasDoesNotTurnARefundIntoACredit(uint256 gas_) public {
        gas_ = bound(gas_, 20_000, 900_000);
        StandardOrder memory order = toOpen(simple());
        openOrder(order);
        vm.warp(order.expires + 1);
        uint256 had = usd.balanceOf(taker);
        bytes memory data = abi.encodeCall(escrow.refund, (order));
        vm.prank(stranger);
        (bool success,) = address(escrow).call{gas: gas_}(data);
        eq(usd.balanceOf(taker), success ? had + IN : had, "tokens or nothing");
        eq(ledger(taker, address(usd)), 0, "no credit");
        eq(status(idOf(order)), success ? 3 : 1, "status");
    }

    /// @dev Nobody can spend a user's nonce or open in its name by paying for its order.
    function test_2_sponsorsLeaveTheNonceAlone() public {
        StandardOrder memory order = toOpen(plain());
        usd.mint(stranger, IN);
        bytes memory funding = byOrder3009(order, STRANGER);
        vm.prank(stranger);
        escrow.openFor(order, stranger, funding);
        ok(!escrow.isNonceUsed(taker, order.nonce), "unused");
        vm.warp(order.expires + 1);
        uint256 had = usd.balanceOf(taker);
        escrow.refund(order);
        eq(usd.balanceOf(taker), had + IN, "a gift to the user");
        StandardOrder memory other = toOpen(simple());
        refusedOpen(other, stranger, byGrant(other), IEscrow.NotTheUser.selector, "no sponsors where the user signs");
        refusedOpen(other, taker, "", IEscrow.NotTheUser.selector, "self is the caller");
        refusedOpen(other, taker, hex"77", IEscrow.UnknownFundingMode.selector, "no such mode");
    }

    /* 3. ERC-3009 */

    function auth(StandardOrder memory order, address to, uint256 from, uint256 until)
        private
        view
        returns (bytes memory)
    {
        return sign(TAKER, receiveDigest(to, taker, order.inputs[0][1], from, until, bytes32(order.nonce)));
    }

    function by12(StandardOrder memory order, uint256 from, uint256 until, bytes memory authSignature)
        private
        view
        returns (bytes memory)
    {
        return abi.encodePacked(
            bytes1(0x12), abi.encode(orderSignature(order), from, until, bytes32(order.nonce), authSignature)
        );
    }

    function test_3_nobodyElseCanUseTheAuthorization() public {
        StandardOrder memory order = simple();
        uint256 until = order.fillDeadline + 1;
        bytes memory signature = auth(order, address(escrow), 0, until);
        bytes32 nonce = bytes32(order.nonce);
        bytes memory data = abi.encodeWithSignature(
            "receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
            taker, address(escrow), IN, 0, until, nonce, signature
        );
        refused(stranger, address(usd), data, I3009.ERC20InvalidReceiver.selector, "only the payee");
        (bytes32 r, bytes32 s, uint8 v) = parts(signature);
        data = abi.encodeWithSignature(
            "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)",
            taker, address(escrow), IN, 0, until, nonce, v, r, s
        );
        refused(stranger, address(usd), data, I3009.ERC3009InvalidSignature.selector, "another type");
        data = abi.encodeWithSignature(
            "receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
            taker, stranger, IN, 0, until, nonce, signature
        );
        refused(stranger, address(usd), data, I3009.ERC3009InvalidSignature.selector, "another payee");
    }

    function parts(bytes memory signature) private pure returns (bytes32 r, bytes32 s, uint8 v) {
        assembly ("memory-safe") {
            r := mload(add(signature, 0x20))
            s := mload(add(signature, 0x40))
            v := byte(0, mload(add(signature, 0x60)))
        }
    }

    /// @dev A cancelled authorization counts as used at the token. Used is not paid.
    function test_3_cancelledIsNotPaid() public {
        StandardOrder memory order = simple();
        bytes memory funding = by12(order, 0, order.fillDeadline, auth(order, address(escrow), 0, order.fillDeadline));
        bytes32 structHash = keccak256(
            abi.encode(
                keccak256("CancelAuthorization(address authorizer,bytes32 nonce)"), taker, bytes32(order.nonce)
            )
        );
        (bytes32 r, bytes32 s, uint8 v) = parts(sign(TAKER, typed(address(usd), structHash)));
        usd.cancelAuthorization(taker, bytes32(order.nonce), v, r, s);
        refusedSettle(order, funding, I3009.ERC3009UsedAuthorization.selector, "cancelled");
    }

    function test_3_aTokenThatTakesNothing() public {
        AwkwardToken token = new AwkwardToken(6);
        token.mint(taker, IN);
        token.setAnswer(AwkwardToken.Answer.Lie);
        StandardOrder memory order = simple();
        order.inputs[0][0] = uint160(address(token));
        refusedSettle(order, by12(order, 0, 1, new bytes(65)), IEscrow.ShortTransfer.selector, "measured");
    }

    function test_3_window() public {
        StandardOrder memory order = simple();
        uint256 t = block.timestamp;
        bytes4 why = I3009.ERC3009InvalidAuthorizationTime.selector;
        refusedSettle(order, by12(order, t + 1, t + 9, auth(order, address(escrow), t + 1, t + 9)), why, "later");
        refusedSettle(order, by12(order, 0, t, auth(order, address(escrow), 0, t)), why, "past");
        refusedSettle(
            order,
            by12(order, 0, t + 9, auth(order, address(remote), 0, t + 9)),
            I3009.ERC3009InvalidSignature.selector,
            "for another escrow"
        );
    }

    /// @dev Mode 0x01 signs the order's id as the nonce, mode 0x12 the order besides.
    function test_3_theAuthorizationIsBoundToTheOrder() public {
        StandardOrder memory order = toOpen(simple());
        StandardOrder memory other = toOpen(simple());
        other.outputs[0].recipient = word(stranger);
        refusedOpen(other, taker, byOrder3009(order, TAKER), I3009.ERC3009InvalidSignature.selector, "0x01");
        bytes memory authSignature = auth(order, address(escrow), 0, order.fillDeadline);
        bytes memory mixed = abi.encodePacked(
            bytes1(0x12),
            abi.encode(
                sign(STRANGER, orderDigest(other)), 0, uint256(order.fillDeadline), bytes32(order.nonce), authSignature
            )
        );
        refusedOpen(other, taker, mixed, IEscrow.InvalidSignature.selector, "0x12 needs the order's signature");
        secondInput(other, 1);
        refusedOpen(other, taker, by3009(other), IEscrow.NotOneInput.selector, "one input");
    }

    /* 4. RESOURCE LOCK */

    function test_4_oneBalanceTwoOrders() public {
        depositTaker(address(usd), IN + IN / 2);
        StandardOrder memory a = toOpen(simple());
        StandardOrder memory b = toOpen(simple());
        bytes memory fundA = byLedger(a);
        vm.prank(stranger);
        escrow.openFor(a, taker, fundA);
        refusedOpen(b, taker, byLedger(b), IEscrow.InsufficientBalance.selector, "allocated twice");
        eq(ledger(taker, address(usd)), IN / 2, "the rest");
    }

    function test_4_withdrawalDuringAnOpenOrder() public {
        depositTaker(address(usd), IN);
        vm.prank(taker);
        escrow.requestWithdrawal(address(usd), IN);
        vm.warp(block.timestamp + DELAY - 1);
        StandardOrder memory order = toOpen(simple());
        bytes memory funding = byLedger(order);
        vm.prank(stranger);
        escrow.openFor(order, taker, funding);
        vm.warp(block.timestamp + 2);
        refused(
            taker,
            address(escrow),
            abi.encodeCall(escrow.withdraw, (address(usd), taker)),
            IEscrow.NoWithdrawal.selector,
            "the order has it"
        );
        vm.warp(order.expires + 1);
        uint256 had = usd.balanceOf(taker);
        escrow.refund(order);
        eq(usd.balanceOf(taker), had + IN, "back once");
    }

    function test_4_anothersLock() public {
        depositTaker(address(usd), IN);
        StandardOrder memory a = toOpen(simple());
        StandardOrder memory b = toOpen(simple());
        b.outputs[0].recipient = word(stranger);
        refusedOpen(b, taker, byLedger(a), IEscrow.InvalidSignature.selector, "another order's signature");
        b.user = stranger;
        bytes memory own = abi.encodePacked(bytes1(0x13), abi.encode(sign(STRANGER, orderDigest(b))));
        refusedOpen(b, stranger, own, IEscrow.InsufficientBalance.selector, "one's own empty entry");
        refusedOpen(b, taker, own, IEscrow.NotTheUser.selector, "another's entry");
    }

    function test_4_expiredLock() public {
        depositTaker(address(usd), IN);
        StandardOrder memory order = simple();
        bytes memory funding = byLedger(order);
        vm.warp(order.fillDeadline);
        refusedOpen(order, taker, funding, IEscrow.DeadlinePassed.selector, "no second left to fill");
        vm.warp(order.fillDeadline + 1);
        refusedSettle(order, funding, IEscrow.DeadlinePassed.selector, "settle after the deadline");
        eq(ledger(taker, address(usd)), IN, "still the taker's");
    }
}
