// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @notice Told before and after a transfer, as ERC-777 does.
interface ITransferHook {
    function onSend(address to, uint256 amount) external;
    function onReceive(address from, uint256 amount) external;
}

/// @notice An ERC-20 that misbehaves in the ways real ones have, one switch each. Anyone mints and switches.
contract AwkwardToken {
    error Paused();
    error Blocked(address account);
    error Short(address account);

    /// @dev What transfer and transferFrom answer. Refuse moves nothing and says false, Lie moves nothing and says true, Junk moves
    /// and answers 2, Bomb moves and answers a megabyte, RevertBomb reverts with one, Burn eats all gas.
    enum Answer {
        True,
        Nothing,
        Refuse,
        Lie,
        Junk,
        Bomb,
        RevertBomb,
        Burn
    }

    event Transfer(address indexed from, address indexed to, uint256 amount);

    uint8 public immutable decimals;
    Answer public answer;
    uint256 public feeBps;
    bool public paused;
    /// @dev A transfer leaves the allowance as it is.
    bool public generous;
    /// @dev Balances are shares times scale / 1e18: a rebase.
    uint256 public scale = 1e18;
    uint256 public totalShares;
    mapping(address => bool) public blocked;
    mapping(address => address) public hookOf;
    mapping(address => uint256) public shares;
    mapping(address => mapping(address => uint256)) public allowance;

    constructor(uint8 decimals_) {
        decimals = decimals_;
    }

    /* SWITCHES */

    function setAnswer(Answer answer_) external {
        answer = answer_;
    }

    function setFee(uint256 bps) external {
        feeBps = bps;
    }

    function setPaused(bool on) external {
        paused = on;
    }

    function setGenerous(bool on) external {
        generous = on;
    }

    function setBlocked(address account, bool on) external {
        blocked[account] = on;
    }

    function setHook(address account, address hook) external {
        hookOf[account] = hook;
    }

    function setScale(uint256 scale_) external {
        scale = scale_;
    }

    function mint(address to, uint256 amount) external {
        shares[to] += amount * 1e18 / scale;
        totalShares += amount * 1e18 / scale;
    }

    /* ERC-20 */

    function balanceOf(address account) public view returns (uint256) {
        return shares[account] * scale / 1e18;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) external {
        _move(msg.sender, to, amount);
        _answer();
    }

    function transferFrom(address from, address to, uint256 amount) external {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed < amount) revert Short(from);
        if (allowed != type(uint256).max && !generous) allowance[from][msg.sender] = allowed - amount;
        _move(from, to, amount);
        _answer();
    }

    /// @dev Takes any authorization for granted, so that only the escrow's own checks are left.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256,
        uint256,
        bytes32,
        uint8,
        bytes32,
        bytes32
    ) external {
        _move(from, to, value);
    }

    function _move(address from, address to, uint256 amount) private {
        if (paused) revert Paused();
        if (blocked[from]) revert Blocked(from);
        if (blocked[to]) revert Blocked(to);
        if (answer == Answer.Refuse || answer == Answer.Lie) return;
        if (hookOf[from] != address(0)) ITransferHook(hookOf[from]).onSend(to, amount);
        uint256 sent = amount * 1e18 / scale;
        if (shares[from] < sent) revert Short(from);
        uint256 fee = sent * feeBps / 10_000;
        shares[from] -= sent;
        shares[to] += sent - fee;
        totalShares -= fee;
        emit Transfer(from, to, amount);
        if (hookOf[to] != address(0)) ITransferHook(hookOf[to]).onReceive(from, amount);
    }

    function _answer() private view {
        Answer how = answer;
        if (how == Answer.Burn) {
            while (true) {}
        }
        assembly ("memory-safe") {
            switch how
            case 1 { return(0, 0) }
            case 2 {
                mstore(0, 0)
                return(0, 0x20)
            }
            case 4 {
                mstore(0, 2)
                return(0, 0x20)
            }
            case 5 {
                mstore(0x80, 1)
                return(0x80, 1000000)
            }
            case 6 { revert(0x80, 1000000) }
            default {
                mstore(0, 1)
                return(0, 0x20)
            }
        }
    }
}
