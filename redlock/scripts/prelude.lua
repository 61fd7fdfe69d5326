-- Put in front of each script of this folder, so that all share one reading of the counter.
--
-- KEYS[1]  the lock: the value of its holder, expiring with the lease
-- KEYS[2]  the lock's counter: the largest fencing token that this master knows of
-- ARGV[1]  value: the caller's own, fresh for every attempt
-- ARGV[2]  number: acquire: proposal; confirm, extend, repair: the token; decimal
-- ARGV[3]  lease in milliseconds
-- ARGV[4]  how long the counter outlives its last use, in milliseconds; 0 = for ever
--
-- Replies are {status, counter}: the status is done, held (by another value), gone (no key) or ahead
-- (the counter is above the number), the counter a decimal string. Numbers cross the border as strings
-- and stay below 2^53, since a Lua number is a double and larger ones would lose digits.

-- The counter's value, 0 if there is none, nil if the key holds something that is not a counter. Digits alone are:
-- tonumber also takes ' 1', '0x10' and '1e3', which no script has written, and not every server's Lua takes the same.
local function counter()
  local text = redis.call('GET', KEYS[2]) or '0'
  local n = string.find(text, '^%d+$') and tonumber(text)
  if n and n < 2 ^ 53 then return n end
  return nil
end

local function set_counter(n)
  local text = string.format('%.0f', n)
  if ARGV[4] == '0' then
    redis.call('SET', KEYS[2], text)
  else
    redis.call('SET', KEYS[2], text, 'PX', ARGV[4])
  end
end

local function reply(status, n)
  return {status, string.format('%.0f', n or 0)}
end

-- One look at the lock: is it ours, and if not, what is the answer?
local function ours()
  local holder = redis.call('GET', KEYS[1])
  if holder == ARGV[1] then return true end
  if holder then return false, 'held' end
  return false, 'gone'
end

local broken = 'ERR the fence counter is not a whole number below 2^53'
