-- The adapter of neotest, with a stand-in for neotest's tree: what it finds, what it runs, and what came of it.

local position_tree = {}
position_tree.__index = position_tree
function position_tree:data()
  return self.position
end
function position_tree:iter()
  local all = { self.position }
  for _, each in ipairs(self.children) do
    table.insert(all, each.position)
  end
  return ipairs(all)
end
local function from_list(list)
  local children = {}
  for number = 2, #list do
    table.insert(children, from_list(list[number]))
  end
  return setmetatable({ position = list[1], children = children }, position_tree)
end
package.preload['neotest.types'] = function()
  return { Tree = { from_list = from_list } }
end

local adapter = require('neotest-axe')
local path = vim.api.nvim_buf_get_name(0)
local root = vim.fn.fnamemodify(path, ':h:h:h')

assert(adapter.root(vim.fn.fnamemodify(path, ':h')) == root)
assert(adapter.root(root .. '/axe/agents') == root)
assert(adapter.root('/') == nil)
assert(adapter.is_test_file(path))
assert(not adapter.is_test_file(root .. '/axe/agents/lead.toml'))
assert(not adapter.is_test_file(root .. '/axe/tests/recordings/asks.toml'))

local tree = adapter.discover_positions(path)
local names = vim.tbl_map(function(each)
  return { each.position.name, each.position.range[1] }
end, tree.children)
assert(vim.deep_equal(names, { { 'asks', 3 }, { 'fails "loudly"', 8 } }), vim.inspect(names))

--- Runs a position as neotest does, all output in a file.
local function run(position)
  local spec = adapter.build_spec({ tree = position })
  local output = vim.fn.tempname()
  local code
  local lines = {}
  local job = vim.fn.jobstart(spec.command, {
    cwd = spec.cwd,
    pty = true,
    on_stdout = function(_, data)
      table.insert(lines, table.concat(data, '\n'))
    end,
    on_exit = function(_, given)
      code = given
    end,
  })
  assert(job > 0)
  assert(vim.wait(100000, function()
    return code ~= nil
  end))
  local file = assert(io.open(output, 'wb'))
  file:write(table.concat(lines))
  file:close()
  local streamed = {}
  local number = 0
  for found in
    spec.stream(function()
      number = number + 1
      return lines[number]
    end)
  do
    streamed = vim.tbl_extend('force', streamed, found)
  end
  return adapter.results(spec, { code = code, output = output }, position), streamed
end

local results, streamed = run(tree)
assert(vim.deep_equal(results, streamed), vim.inspect({ results, streamed }))
assert(results[path .. '::asks'].status == 'passed', vim.inspect(results))
local failed = results[path .. '::fails "loudly"']
assert(failed.status == 'failed', vim.inspect(results))
assert(failed.errors[1].line == 14, vim.inspect(failed))
assert(failed.short:find('failed: lead: turns is 3, more than 1', 1, true), failed.short)

-- A long line comes in many pieces.
local pieces = { '{"verdict": "passed", ', '"name": "asks", ', ('"file": "%s", '):format(path), '"failures": []}\n' }
local last
for found in
  adapter.build_spec({ tree = tree }).stream(function()
    return table.remove(pieces, 1)
  end)
do
  last = found
end
assert(last[path .. '::asks'].status == 'passed', vim.inspect(last))

local one = run(tree.children[1])
assert(vim.deep_equal(vim.tbl_keys(one), { path .. '::asks' }), vim.inspect(one))

vim.fn.writefile({ 'agnet = "lead"', '[[case]]', 'name = "a"' }, path)
local wrong = run(adapter.discover_positions(path))
assert(wrong[path .. '::a'].status == 'failed')
assert(wrong[path .. '::a'].short:find('unknown key "agnet"', 1, true), vim.inspect(wrong))
vim.cmd('qa!')
