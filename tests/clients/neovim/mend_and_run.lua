-- A user opens an agent with three mistakes, mends them one by one, runs it, and reads what it does.

local support = require('support')

--- What the columns of this Neovim count: it offers UTF-8 since 0.11, and could not offer anything before.
local function check_encoding()
  local clients = vim.lsp.get_clients and vim.lsp.get_clients() or vim.lsp.get_active_clients()
  local expected = vim.fn.has('nvim-0.11') == 1 and 'utf-8' or 'utf-16'
  assert(#clients == 1 and clients[1].offset_encoding == expected, 'columns should count in ' .. expected)
end

local function mend()
  support.wait_for_diagnostics({ 'negative-timeout -30', 'unknown-agent "ghost"', 'max-depth 6' })
  check_encoding()
  support.replace('timeout = -30', 'timeout = 30')
  support.wait_for_diagnostics({ 'unknown-agent "ghost"', 'max-depth 6' })
  support.replace('"ghost"', '"slow"')
  support.wait_for_diagnostics({ 'max-depth 6' })
  support.replace('max_depth = 6', 'max_depth = 5')
  support.wait_for_diagnostics({})
end

local function ask_what_a_key_means()
  local line, column = unpack(vim.fn.searchpos('max_depth'))
  local answer
  local params = { textDocument = { uri = vim.uri_from_bufnr(0) }, position = { line = line - 1, character = column } }
  vim.lsp.buf_request(0, 'textDocument/hover', params, function(_, result)
    answer = result
  end)
  local hover = support.wait_for('the hover', function()
    return answer
  end)
  assert(hover.contents.value:find('max_depth', 1, true), vim.inspect(hover))
end

local function complete_a_name()
  support.replace('"slow"', '"sl"')
  vim.fn.search('"sl"')
  vim.fn.cursor(0, vim.fn.col('.') + 2)
  vim.bo.omnifunc = 'v:lua.vim.lsp.omnifunc'
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes('a<C-x><C-o>', true, false, true), 'n', false)
  local offered
  vim.fn.timer_start(20, function(timer)
    offered = vim.fn.complete_info({ 'items' }).items
    if #offered > 0 then
      vim.fn.timer_stop(timer)
      vim.api.nvim_input('<C-y><Esc>')
    end
  end, { ['repeat'] = 1500 })
  vim.api.nvim_feedkeys('', 'x!', false)
  assert(vim.fn.getline('.'):find('"slow"]', 1, true), vim.fn.getline('.') .. vim.inspect(offered))
end

local function line_of(text)
  local buffer = vim.fn.bufnr('^axe://runs$')
  for number, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, true)) do
    if line:find(text, 1, true) then
      return number
    end
  end
end

local function runs_window()
  return vim.fn.bufwinid('^axe://runs$')
end

--- The fast child has answered while the slow one, which began after it, is at work: each writes in its own place.
local function read_while_it_works()
  support.wait_for_log('    │ No bugs found.', '  ▶ slow: Look at the style  openai/slow')
  support.wait_for_log('  ✓ fast🚀: Look for bugs  ')
  assert(line_of('No bugs found.') < line_of('▶ slow'), support.runs_text())
  vim.api.nvim_win_set_cursor(runs_window(), { line_of('No bugs found.'), 3 })
end

local function press(keys)
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(keys, true, false, true), 'x', false)
end

local function read_afterwards()
  local here = vim.api.nvim_get_current_win()
  vim.api.nvim_set_current_win(runs_window())
  press('<CR>')
  assert(vim.fn.getline(1) == '# fast🚀, turn 1', vim.fn.getline(1))
  assert(support.buffer_with('## Says\n\nNo bugs found.\n\n## Sources\n\n- https://example.com/a'))
  press('q')
  assert(vim.api.nvim_get_current_win() == runs_window())
  press('gg]]')
  assert(vim.fn.line('.') == line_of('fast🚀: Look'), 'the next agent')
  press(']]<CR>')
  assert(support.buffer_with('# slow\n\ncompleted · '), 'the slow agent')
  assert(support.buffer_with('## Task\n\nLook at the style\n\n## Answer\n\nThe style is fine.'))
  press('q[[zc')
  assert(vim.fn.foldclosed('.') == line_of('fast🚀: Look') and vim.fn.foldclosedend('.') == line_of('No bugs'), 'a child is a fold')
  assert(vim.fn.foldtextresult('.'):find('✓ fast🚀: Look for bugs  [%d.]+ s · 1 turn · .* · 2 lines'), vim.fn.foldtextresult('.'))
  press('ggzc')
  assert(vim.fn.foldclosedend('.') == vim.fn.line('$'), 'a run is a fold')
  press('q')
  assert(runs_window() == -1 and vim.api.nvim_get_current_win() == here)
end

local function run()
  vim.cmd('AxeRun Review the change')
  read_while_it_works()
  support.report('the fast child has answered')
  support.wait_for_log('  │ Ready to')
  assert(not support.runs_text():find('merge', 1, true), 'the end of the answer has not been sent yet')
  assert(require('axe_lsp').status() == '▶ manager')
  support.report('the manager has begun its answer')
  support.wait_for_log('✓ manager: Review the change  ')
  assert(vim.api.nvim_win_get_cursor(runs_window())[1] == line_of('No bugs found.'), 'who reads elsewhere is left there')
  assert(require('axe_lsp').status() == '')
end

support.play(function()
  assert(vim.bo.filetype == 'toml')
  mend()
  ask_what_a_key_means()
  complete_a_name()
  run()
  support.report(support.runs_text())
  read_afterwards()
end)
