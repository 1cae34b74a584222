// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Commitment, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {AccountBase} from "../support/AccountBase.sol";

/// @notice Thieves of an account's mover and operator keys, and strangers, do what they can; the owner does nothing. Counts what
/// left the account's own places, by the key that did it.
contract AccountHandler is AccountBase {
    uint256 private clock;
    /// @dev Burned by a bridge for the account itself, per token: usd, then weth.
    uint256[2] public sent;
    /// @dev Paid for orders by the operator's signature or call, in weth.
    uint256 public spent;
    /// @dev What claims, gifts and orders brought in or took besides, per token.
    uint256[2] public came;
    /// @dev Per token and day (UTC), as the bridges and the bond saw it.
    mapping(uint256 t => mapping(uint256 day => uint256)) private sentOn;
    mapping(uint256 t => mapping(uint256 day => uint256)) private requestedOn;
    mapping(uint256 window => uint256) private spentIn;
    mapping(string step => uint256) public done;
    string public surprise;
    /// @dev A day's sum of the mover, or a window's of the operator, was above its limit.
    bool public overLimits;
    uint256 public windows;
    uint256 private windowSince;
        uint256[2] public atFirst;

    function setUp() public override {
        super.setUp();
        clock = block.timestamp;
        atFirst = [holdings(0), holdings(1)];
    }

    modifier step() {
        vm.warp(clock);
        _;
        clock = block.timestamp;
    }

    function draw(uint256 seed, uint256 what, uint256 n) private pure returns (uint256) {
        return uint256(keccak256(abi.encode(seed, what))) % n;
    }

    function tokenAt(uint256 t) public view returns (address) {
        return t == 0 ? address(usd) : address(weth);
    }

    function mostAt(uint256 t) public pure returns (uint256) {
        return t == 0 ? USD_MOST : WETH_MOST;
    }

    /// @dev In the account's own places: ledger, bond, itself.
    function holdings(uint256 t) public view returns (uint256) {
        address token = tokenAt(t);
        return escrow.balanceOf(address(account), token) + bonded(address(account), token) + lying(token);
    }

    function allowances() external view returns (uint256 sum) {
        address[4] memory places = [address(escrow), address(bond), address(messenger), address(oft)];
        for (uint256 i; i < 4; ++i) {
            sum += usd.allowance(address(account), places[i]) + weth.allowance(address(account), places[i]);
        }
    }

    function foreignRecipient() external view returns (bool) {
        return (messenger.recipient() != 0 && messenger.recipient() != word(address(account)))
            || (oft.recipient() != 0 && oft.recipient() != word(address(account)));
    }

    function rolesAreKept() external view returns (bool) {
        return account.owner() == owner && account.mover() == mover && account.treasury() == treasury
            && account.pendingOwner() == address(0) && !account.closed();
    }

    function mostSpent() external pure returns (uint256) {
        return OPERATOR_MOST;
    }

    /// @dev Mostly what the limit allows, sometimes anything.
    function amountOf(uint256 seed, uint256 t) private pure returns (uint256) {
        uint256 kind = draw(seed, 7, 8);
        if (kind == 0) return draw(seed, 8, type(uint256).max);
        if (kind == 1) return mostAt(t);
        return draw(seed, 8, mostAt(t));
    }

    function _count(mapping(uint256 day => uint256) storage sums, uint256 t, uint256 amount) private {
        sums[block.timestamp / 1 days] += amount;
        if (sums[block.timestamp / 1 days] > mostAt(t)) overLimits = true;
    }

    /* THE MOVER'S KEY */

    function request(uint256 seed) external step {
        uint256 t = draw(seed, 1, 2);
        uint256 amount = amountOf(seed, t);
        vm.prank(mover);
        try account.requestWithdrawal(tokenAt(t), amount) {
            _count(requestedOn[t], t, amount);
            ++done["request"];
        } catch {}
    }

    function withdraw(uint256 seed) external step {
        vm.prank(mover);
        try account.withdraw(tokenAt(draw(seed, 1, 2))) {
            ++done["withdraw"];
        } catch {}
    }

    function deposit(uint256 seed) external step {
        uint256 t = draw(seed, 1, 2);
        uint256 amount = draw(seed, 2, 3) == 0 ? type(uint256).max : amountOf(seed, t);
        vm.prank(mover);
        try account.deposit(tokenAt(t), amount) {
            ++done["deposit"];
        } catch {}
    }

    function postBond(uint256 seed) external step {
        uint256 t = draw(seed, 1, 2);
        uint256 amount = amountOf(seed, t);
        vm.prank(mover);
        try account.postBond(tokenAt(t), amount) {
            _count(sentOn[t], t, amount);
            ++done["postBond"];
        } catch {}
    }

    function cctp(uint256 seed) external step {
        uint256 amount = amountOf(seed, 0);
        uint256 fee = draw(seed, 3, 4) == 0 ? draw(seed, 4, 100e6) : 0;
        vm.prank(mover);
        try account.sendByCctp(address(usd), DOMAIN + uint32(draw(seed, 5, 8) / 7), amount, fee, 1000) {
            sent[0] += messenger.amount();
            _count(sentOn[0], 0, amount);
            if (fee > amount * ROUTE_FEE / 10_000) surprise = "a fee above the route's";
            ++done["cctp"];
        } catch {}
    }

    function oftSend(uint256 seed) external step {
        uint256 amount = amountOf(seed, 1);
        uint256 least = draw(seed, 3, 4) == 0 ? draw(seed, 4, amount + 1) : amount;
        vm.prank(mover);
        try account.sendByOft{value: 3}(address(oft), EID, amount, least) {
            sent[1] += oft.amount();
            _count(sentOn[1], 1, amount);
            if (amount - least > amount * ROUTE_FEE / 10_000) surprise = "a fee above the route's";
            ++done["oftSend"];
        } catch {}
    }

    /* THE OPERATOR'S KEY */

    /// @dev Sells to its holder for a unit; or fills an order that it made up.
    function sell(uint256 seed) external step {
        uint256 amount = 1 + draw(seed, 1, 2) * draw(seed, 2, OPERATOR_MOST);
        StandardOrder memory order = ofAccount(amount);
        order.inputs[0][1] = 1e6;
        bytes memory funding = by3009(order);
        Commitment[] memory list = ownCommitments(order, ACCOUNT_OPERATOR);
        uint256 before = holdings(0);
        try escrow.settle(order, funding, list) {
            came[0] += holdings(0) - before;
            _spent(amount);
            ++done["sell"];
        } catch {}
    }

    function fill(uint256 seed) external step {
        uint256 amount = 1 + draw(seed, 2, OPERATOR_MOST);
        StandardOrder memory order = ofAccount(amount);
        order.outputs[0].oracle = word(address(oracle));
        order.outputs[0].recipient = word(stranger);
        bytes32 orderId = idOf(order);
        vm.prank(vm.addr(ACCOUNT_OPERATOR));
        try escrow.fill(orderId, order.outputs[0], order.fillDeadline, fillerData(address(account))) {
            _spent(amount);
            ++done["fill"];
        } catch {}
    }

    function _spent(uint256 amount) private {
        spent += amount;
        if (windows == 0 || block.timestamp >= windowSince + OPERATOR_WINDOW) {
            ++windows;
            windowSince = block.timestamp;
        }
        spentIn[windows] += amount;
        if (spentIn[windows] > OPERATOR_MOST) overLimits = true;
    }

    /* BOTH KEYS AND EVERYBODY: EVERY OTHER CALL */

    function other(uint256 seed) external step {
        address[5] memory who = [mover, vm.addr(ACCOUNT_OPERATOR), stranger, treasury, address(messenger)];
        address token = tokenAt(draw(seed, 1, 2));
        address to = who[draw(seed, 2, 5)];
        bytes[18] memory calls = [
            abi.encodeCall(account.takeToTreasury, (token, 1)),
            abi.encodeCall(account.takeNativeToTreasury, (0)),
            abi.encodeCall(account.initialize, (address(remote), address(0))),
            abi.encodeCall(account.finishSetup, ()),
            abi.encodeCall(account.schedule, (abi.encodeCall(account.setTreasury, (to)))),
            abi.encodeCall(account.cancel, (bytes32(seed))),
            abi.encodeCall(account.transferOwnership, (to)),
            abi.encodeCall(account.acceptOwnership, ()),
            abi.encodeCall(account.setTreasury, (to)),
            abi.encodeCall(account.setMover, (to)),
            abi.encodeCall(account.setMoverLimit, (token, type(uint128).max)),
            abi.encodeCall(account.setCctpRoute, (token, DOMAIN, to, 10_000)),
            abi.encodeCall(account.setOftRoute, (to, EID, token, 10_000)),
            abi.encodeCall(account.setOperator, (to, true)),
            abi.encodeCall(account.limitOperator, (to, token, type(uint96).max, 1)),
            abi.encodeCall(account.setBondTerms, (1, true)),
            abi.encodeCall(account.requestTakeBack, (token, 1)),
            abi.encodeCall(account.close, ())
        ];
        vm.prank(to);
        (bool success,) = address(account).call(calls[draw(seed, 3, 18)]);
        if (success) surprise = "a call of the owner by somebody else";
        ++done["other"];
    }

    function pass(uint256 seed) external step {
        vm.warp(block.timestamp + (draw(seed, 1, 3) == 0 ? 1 days : 1 + draw(seed, 2, 2 hours)));
    }
}
