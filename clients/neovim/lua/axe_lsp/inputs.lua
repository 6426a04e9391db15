-- The input of an agent with [input], asked of the user: field by field where all are simple, else as JSON in a buffer
-- that is sent when it is written.

local words = require('axe_lsp.words')

local M = {}

local SIMPLE = { string = true, integer = true, number = true, boolean = true }

--- The names of the fields: those that are required in their order, then the others by name.
local function names_of(schema)
  local names = vim.deepcopy(schema.required or {})
  local others = vim.tbl_filter(function(name)
    return not vim.tbl_contains(names, name)
  end, vim.tbl_keys(schema.properties or {}))
  table.sort(others)
  return vim.list_extend(names, others)
end

local function is_simple(field)
  return type(field) == 'table' and (field.enum ~= nil or SIMPLE[field.type] == true)
end

local function prompt_of(name, field, is_required)
  local about = field.description and ' (' .. words.shorten(field.description) .. ')' or ''
  return words.shorten(name) .. about .. (is_required and ': ' or ', may be empty: ')
end

--- A text as a value of a type. What is no number stays a text, so that the server can say what is wrong with it.
local function value_of(text, field)
  local is_number = field.type == 'integer' or field.type == 'number'
  return is_number and tonumber(text) or text
end

local function shown(choice)
  return words.shorten(tostring(choice))
end

local function ask_field(name, field, is_required, on_value)
  local choices = field.enum or field.type == 'boolean' and { true, false }
  local prompt = prompt_of(name, field, is_required)
  if choices then
    return vim.ui.select(choices, { prompt = prompt, format_item = shown }, function(choice)
      if choice ~= nil then
        on_value(choice)
      end
    end)
  end
  local default = field.default ~= nil and tostring(field.default) or nil
  vim.ui.input({ prompt = prompt, default = default }, function(text)
    if text and text ~= '' then
      on_value(value_of(text, field))
    elseif text and not is_required then
      on_value(nil)
    end
  end)
end

local function ask_fields(schema, names, on_input)
  local input = vim.empty_dict()
  local function ask_from(index)
    local name = names[index]
    if not name then
      return on_input(input)
    end
    local is_required = vim.tbl_contains(schema.required or {}, name)
    ask_field(name, schema.properties[name], is_required, function(value)
      input[name] = value
      ask_from(index + 1)
    end)
  end
  ask_from(1)
end

local EMPTY = { string = '""', integer = '0', number = '0', boolean = 'false', array = '[]', object = '{}' }

local function draft(schema, names)
  local lines = {}
  for _, name in ipairs(names) do
    local field = (schema.properties or {})[name]
    field = type(field) == 'table' and field or {}
    local value = field.default ~= nil and vim.fn.json_encode(field.default) or EMPTY[field.type] or 'null'
    table.insert(lines, ('  %s: %s'):format(vim.fn.json_encode(name), value))
  end
  return vim.split('{\n' .. table.concat(lines, ',\n') .. '\n}', '\n', { plain = true })
end

local function send(bufnr, on_input)
  local text = table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, true), '\n')
  local is_json, input = pcall(vim.fn.json_decode, text)
  if not is_json or type(input) ~= 'table' then
    return vim.notify('axe: the input is not a JSON object yet; ":q!" discards it', vim.log.levels.ERROR)
  end
  vim.bo[bufnr].modified = false
  on_input(input)
end

local function edit(schema, names, on_input)
  vim.cmd('botright 12new')
  local bufnr = vim.api.nvim_get_current_buf()
  vim.api.nvim_buf_set_name(bufnr, 'axe://input/' .. bufnr)
  vim.bo[bufnr].buftype = 'acwrite'
  vim.bo[bufnr].bufhidden = 'wipe'
  vim.bo[bufnr].filetype = 'json'
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, true, draft(schema, names))
  vim.bo[bufnr].modified = false
  vim.api.nvim_create_autocmd('BufWriteCmd', {
    buffer = bufnr,
    callback = function()
      send(bufnr, on_input)
    end,
  })
  vim.notify('axe: the input of the agent; ":w" runs it with this, ":q!" gives it up', vim.log.levels.INFO)
end

--- Calls `on_input` with what fits the schema as far as can be told, or not at all if the user gives it up.
function M.ask(schema, on_input)
  local names = names_of(schema)
  local are_simple = #names > 0
  for _, name in ipairs(names) do
    are_simple = are_simple and is_simple((schema.properties or {})[name])
  end
  local ask = are_simple and ask_fields or edit
  ask(schema, names, on_input)
end

return M
