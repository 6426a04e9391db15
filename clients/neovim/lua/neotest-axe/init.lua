-- An adapter of neotest: files of tests of agents with their cases, which `axe-lsp test` runs.
--
--   require('neotest').setup({ adapters = { require('neotest-axe') } })

local uv = vim.uv or vim.loop

local words = require('axe_lsp.words')

local M = { name = 'neotest-axe' }

local FOLDERS = { 'axe/tests', '.axe/tests' }
local STATUSES = { passed = 'passed', unfinished = 'skipped' } -- all other verdicts are failures

--- The program of the server that the user has configured. Asked for when this file is loaded: later, Neovim may be
--- in a moment at which that is not allowed.
local function configured_program()
  local found, config = pcall(function()
    return require('axe_lsp.server').configuration()
  end)
  return found and type(config.cmd) == 'table' and config.cmd[1] or 'axe-lsp'
end

local program = configured_program()

local function is_folder(path)
  local status = uv.fs_stat(path)
  return status ~= nil and status.type == 'directory'
end

--- The folder of the project that a folder belongs to.
function M.root(dir)
  local here = dir
  while here do
    for _, folder in ipairs(FOLDERS) do
      if is_folder(here .. '/' .. folder) then
        return here
      end
    end
    local above = vim.fs.dirname(here)
    here = above ~= here and above or nil
  end
end

function M.filter_dir(name)
  return name ~= 'node_modules' and name ~= '.git' and name ~= 'recordings'
end

function M.is_test_file(path)
  return path:match('[/\\]%.?axe[/\\]tests[/\\][^/\\]+%.toml$') ~= nil
end

local function read(path)
  local file = io.open(path, 'rb')
  local text = file and file:read('*a') or ''
  if file then
    file:close()
  end
  return text
end

--- The value of a string on one line of TOML, nil for what is none.
local function string_of(written)
  local literal = written:match("^'([^']*)'")
  if literal then
    return literal
  end
  local quoted = written:match('^"[^"\\]*"') or written:match('^"[^"]*\\.-[^\\]"')
  local is_valid, value = pcall(vim.json.decode, quoted or '')
  return is_valid and value or nil
end

--- The cases of a text, each with its first and last line from 0.
local function cases_of(text)
  local found, case, number = {}, nil, 0
  for line in (text .. '\n'):gmatch('([^\n]*)\n') do
    local header = line:match('^%s*%[+%s*([^%]]-)%s*%]+')
    if header == 'case' and line:match('^%s*%[%[') then
      case = { first = number, last = number, is_at_name = true }
      table.insert(found, case)
    elseif case then
      if header then
        case.is_at_name = false
      end
      local written = case.is_at_name and line:match('^%s*name%s*=%s*(.+)$')
      case.name = case.name or (written and string_of(written)) or nil
      case.last = line:match('%S') and number or case.last
    end
    number = number + 1
  end
  return vim.tbl_filter(function(each)
    return each.name ~= nil
  end, found), number
end

local function id_of(path, case)
  return path .. '::' .. case
end

function M.discover_positions(path)
  local cases, lines = cases_of(read(path))
  local tree = { { id = path, type = 'file', name = vim.fs.basename(path), path = path, range = { 0, 0, lines, 0 } } }
  for _, case in ipairs(cases) do
    local range = { case.first, 0, case.last + 1, 0 }
    table.insert(tree, { { id = id_of(path, case.name), type = 'test', name = case.name, path = path, range = range } })
  end
  return require('neotest.types').Tree.from_list(tree, function(position)
    return position.id
  end)
end

--- What runs a case, a file or a folder. `extra_args` are options of `axe-lsp test`, such as `--live`.
function M.build_spec(args)
  local position = args.tree:data()
  local command = { program, 'test', '--format', 'json' }
  vim.list_extend(command, args.extra_args or {})
  vim.list_extend(command, { '--', position.type == 'test' and position.id or position.path })
  local root = M.root(vim.fs.dirname(position.path)) or M.root(position.path)
  return {
    command = command,
    cwd = root,
    context = { root = root },
    stream = function(output)
      local rest = ''
      return function()
        local data = output()
        if not data then
          return nil
        end
        local text = rest .. data
        local whole = text:match('^.*\n') or ''
        rest = text:sub(#whole + 1)
        return M.read_results(whole, root)
      end
    end,
  }
end

local function errors_of(told)
  return vim.tbl_map(function(failure)
    return { message = words.visible(failure.message), line = failure.line - 1 }
  end, told.failures)
end

--- The results in the output of `axe-lsp test --format json`, by the ids of positions.
function M.read_results(output, root)
  local results = {}
  for line in output:gmatch('[^\r\n]+') do
    local is_valid, told = pcall(vim.json.decode, line)
    if is_valid and type(told) == 'table' and told.verdict then
      local path = told.file
      if root and not path:match('^[/\\]') and not path:match('^%a:') then
        path = root .. '/' .. path
      end
      local errors = errors_of(told)
      results[id_of(path, told.name)] = {
        status = STATUSES[told.verdict] or 'failed',
        short = #errors > 0 and ('%s: %s'):format(told.verdict, errors[1].message) or nil,
        errors = errors,
      }
    end
  end
  return results
end

--- What came of a run. Without any result, as for a mistake in the file, all cases fail with what was printed.
function M.results(spec, result, tree)
  local output = read(result.output)
  local results = M.read_results(output, spec.context.root)
  if next(results) == nil then
    local message = words.visible(vim.trim(output:gsub('\r', '')))
    for _, position in tree:iter() do
      if position.type == 'test' then
        results[position.id] = { status = 'failed', short = message, errors = { { message = message } } }
      end
    end
  end
  return results
end

return M
