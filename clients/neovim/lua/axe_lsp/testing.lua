-- Tests of agents: runs or records them, and puts what failed into the quickfix list, at the lines of the expectations.

local requests = require('axe_lsp.requests')

local M = {}

local TITLE = 'axe tests'

--- The quickfix entries of a file of tests, one for each failure.
local function entries(uri, results)
  local found, path = {}, vim.uri_to_fname(uri)
  for _, result in ipairs(results) do
    local failures = result.failures
    if #failures == 0 and result.verdict ~= 'passed' then
      failures = { { line = result.line, message = result.verdict } }
    end
    for _, failure in ipairs(failures) do
      local text = ('%s: %s'):format(result.name, failure.message)
      table.insert(found, { filename = path, lnum = failure.line, type = 'E', text = text })
    end
  end
  return found
end

local function tell(counts, found)
  vim.fn.setqflist({}, ' ', { title = TITLE, items = found })
  local verdicts = vim.tbl_keys(counts)
  table.sort(verdicts)
  local words = vim.tbl_map(function(verdict)
    return ('%d %s'):format(counts[verdict], verdict)
  end, verdicts)
  local text = #words > 0 and table.concat(words, ', ') or 'there are no tests of agents here'
  vim.notify('axe: ' .. text, #found > 0 and vim.log.levels.WARN or vim.log.levels.INFO)
  if #found > 0 then
    vim.cmd('copen')
  end
end

--- Runs a file of tests after the other. `case` is the only one to run, or ''.
local function run(client, uris, case, record, bufnr)
  local counts, found = {}, {}
  local function go_on(number)
    local uri = uris[number]
    if not uri then
      return tell(counts, found)
    end
    local params = { uri = uri, case = case ~= '' and case or nil, record = record or nil }
    requests.send(client, 'axe/test', params, bufnr, function(answer)
      for _, result in ipairs(answer.results) do
        counts[result.verdict] = (counts[result.verdict] or 0) + 1
      end
      vim.list_extend(found, entries(uri, answer.results))
      go_on(number + 1)
    end)
  end
  go_on(1)
end

local function is_tests(bufnr)
  return vim.api.nvim_buf_get_name(bufnr):match('[/\\]%.?axe[/\\]tests[/\\][^/\\]+%.toml$') ~= nil
end

--- Runs the tests of a file of tests, and all of the project from any other buffer; with `record` the answers are
--- asked for and stored first.
function M.test(case, record, bufnr)
  local client = requests.client_for(bufnr)
  if not client then
    return
  elseif is_tests(bufnr) then
    return run(client, { vim.uri_from_bufnr(bufnr) }, case, record, bufnr)
  elseif case ~= '' or record then
    return vim.notify('axe: this is not a file of tests: open the one with the case', vim.log.levels.ERROR)
  end
  requests.send(client, 'axe/tests', {}, bufnr, function(files)
    local uris = vim.tbl_map(function(file)
      return file.uri
    end, files)
    run(client, uris, '', false, bufnr)
  end)
end

--- Makes a case of a run, and shows it.
function M.new(client, run, bufnr)
  requests.send(client, 'axe/newTest', { runId = run.runId }, bufnr, function(made)
    vim.cmd('edit ' .. vim.fn.fnameescape(vim.uri_to_fname(made.uri)))
    vim.cmd('checktime')
    vim.api.nvim_win_set_cursor(0, { math.min(made.line, vim.api.nvim_buf_line_count(0)), 0 })
    local text = ('axe: case "%s" %s'):format(made.case, made.results[1].verdict)
    vim.notify(table.concat(vim.list_extend({ text }, made.notes), '; '))
  end)
end

--- The names of the cases of a file of tests.
function M.cases(bufnr)
  local client = requests.checking(bufnr)
  for _, file in ipairs(client and requests.ask(client, 'axe/tests', {}) or {}) do
    if file.uri == vim.uri_from_bufnr(bufnr) then
      return vim.tbl_map(function(case)
        return case.name
      end, file.cases)
    end
  end
  return {}
end

return M
