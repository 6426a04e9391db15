-- The buffers in which runs are told: "axe://runs" for those of this session, and one for each past run that is looked at.

local details = require('axe_lsp.details')
local trees = require('axe_lsp.tree')
local views = require('axe_lsp.views')
local words = require('axe_lsp.words')

local M = {}

local live -- the tree of this session's runs
local past = {} -- those of past runs, by the id of their root

local function new(name)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(bufnr, name)
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].filetype = 'axeruns'
  return trees.new(bufnr)
end

--- Whether a tree can be written into; not if the user has deleted its buffer.
local function is_there(tree)
  return tree and vim.api.nvim_buf_is_loaded(tree.bufnr)
end

local function delete(tree)
  if tree and vim.api.nvim_buf_is_valid(tree.bufnr) then
    vim.api.nvim_buf_delete(tree.bufnr, { force = true })
  end
end

--- The tree of this session's runs.
function M.live()
  if not is_there(live) then
    delete(live)
    live = new('axe://runs')
  end
  return live
end

--- An empty tree for a past run, which hears of it from now on.
function M.for_past_run(root_id)
  delete(past[root_id])
  past[root_id] = new('axe://runs/' .. root_id)
  return past[root_id]
end

local function current()
  local bufnr = vim.api.nvim_get_current_buf()
  for _, tree in ipairs({ live, unpack(vim.tbl_values(past)) }) do
    if tree.bufnr == bufnr then
      return tree
    end
  end
end

--- Something has happened in a run.
function M.tell(method, event)
  local tree = past[event.rootRunId] or M.live()
  tree.tell(method, event)
end

--- Shows what a root run has changed in files; nil for nothing.
function M.show_changes(root_id, changes)
  local tree = past[root_id] or M.live()
  tree.show_changes(root_id, changes)
end

--- A question of an agent to the user has come (1), or is settled (-1).
function M.ask(question, more)
  local tree = past[question.rootRunId] or M.live()
  tree.ask(question.runId, more)
end

--- What the line of the cursor tells of.
function M.item()
  local tree = current()
  return tree and tree.item_at(vim.api.nvim_win_get_cursor(0)[1] - 1)
end

--- What the root run that the line of the cursor belongs to has begun with.
function M.root()
  local item = M.item()
  local root = item and current().runs[item.run.begun.rootRunId]
  return root and root.begun
end

--- Opens the whole of it.
function M.open_item()
  local item = M.item()
  if item then
    views.open_markdown(details.text(item))
  end
end

local MARKS = { words.RUNNING, words.WAITING, words.COMPLETED, words.STOPPED, words.FAILED }
local HEAD = [[^ *\(]] .. table.concat(MARKS, [[\|]]) .. [[\)]]

--- Goes to the next agent, or the one before.
function M.go(backwards)
  for _ = 1, vim.v.count1 do
    vim.fn.search(HEAD, backwards and 'bW' or 'W')
  end
end

local function is_head(line)
  for _, mark in ipairs(MARKS) do
    if vim.startswith(line, mark) then
      return true
    end
  end
  return false
end

--- For 'foldexpr': an agent is a fold, and holds those of the agents that it has called.
function M.fold_level(number)
  local indent, rest = vim.fn.getline(number):match('^( *)(.*)$')
  local depth = #indent / 2
  return is_head(rest) and '>' .. (depth + 1) or tostring(depth)
end

--- For 'foldtext': the head with its figures.
function M.fold_text()
  local tree = current()
  local item = tree and tree.item_at(vim.v.foldstart - 1)
  local lines = vim.v.foldend - vim.v.foldstart
  return ('%s  %s · %d lines '):format(vim.fn.getline(vim.v.foldstart), item and item.figures or '', lines)
end

return M
