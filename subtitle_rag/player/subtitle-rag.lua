-- Made by subtitle-rag player mpv-script.
-- Searches within the playing video: a key (Ctrl+f) opens a line for the query, Enter searches, Up, Down and Enter jump,
-- Tab takes the spelling that is offered, Ctrl+v pastes.
--
-- script-opts/subtitle-rag.conf may have: key=Ctrl+f, command=/path/of/subtitle-rag, home=, limit=20

local utils = require "mp.utils"
local options = { key = "Ctrl+f", command = "", home = "", limit = 20 }
require("mp.options").read_options(options, "subtitle-rag")

local COMMAND = {} -- filled in by --install
local HOME = "" -- filled in by --install
local WORDS = {} -- filled in by --install

local ROWS = 8 -- of results on the screen
local WIDTH = 44 -- characters of a line
local BEFORE = 14 -- characters before the first match

local overlay = mp.create_osd_overlay("ass-events")
local query, at, state, note = {}, 1, nil, ""
local scenes, chosen, suggestion = {}, 1, nil
local running = nil

-- Outside text must not be read as ASS tags: the same signs as in mpv's console.lua
local function escaped(text)
    text = text:gsub("%c", " "):gsub("\\", "\\\239\187\191"):gsub("{", "\\{"):gsub("}", "\\}")
    return text
end

local function characters(text)
    local found = {}
    for character in text:gmatch("[%z\1-\127\194-\244][\128-\191]*") do
        found[#found + 1] = character
    end
    return found
end

local function excerpt(scene)
    local all = characters(scene.text or "")
    local mark = scene.highlights and scene.highlights[1] or {0, 0}
    local first = math.max(1, mark[1] + 1 - BEFORE)
    local last = math.min(#all, first + WIDTH - 1)
    local function part(from, to)
        return escaped(table.concat(all, "", math.max(first, from), math.min(last, to)))
    end
    local text = part(first, mark[1]) .. "{\\b1}" .. part(mark[1] + 1, mark[2]) .. "{\\b0}" .. part(mark[2] + 1, last)
    return (first > 1 and "…" or "") .. text .. (last < #all and "…" or "")
end

local function clock(seconds)
    local whole = math.floor(seconds)
    local hours, minutes = math.floor(whole / 3600), math.floor(whole / 60) % 60
    if hours > 0 then
        return string.format("%d:%02d:%02d", hours, minutes, whole % 60)
    end
    return string.format("%d:%02d", minutes, whole % 60)
end

local function draw()
    if not state then
        overlay:remove()
        return
    end
    local before, after = table.concat(query, "", 1, at - 1), table.concat(query, "", at)
    local lines = { "{\\an7\\fs22\\bord1.5}" .. WORDS.title .. "  " .. escaped(before) .. "|" .. escaped(after) }
    local top = math.max(1, math.min(chosen - math.floor(ROWS / 2), #scenes - ROWS + 1))
    for number = top, math.min(#scenes, top + ROWS - 1) do
        local sign = number == chosen and "▶ " or "   "
        lines[#lines + 1] = sign .. clock(scenes[number].jump.at) .. "  " .. excerpt(scenes[number])
    end
    if note ~= "" then
        lines[#lines + 1] = escaped(note)
    end
    overlay.res_x, overlay.res_y = 960, 540
    overlay.data = table.concat(lines, "\\N")
    overlay:update()
end

-- The id in a link of YouTube or at the end of a file's name, as yt-dlp writes it; else the file's name
local function video()
    local path = mp.get_property("path") or ""
    if path:match("^%a[%w+.-]+://") then
        local id = path:match("[?&]v=([%w_-]+)") or path:match("youtu%.be/([%w_-]+)")
            or path:match("/shorts/([%w_-]+)") or path:match("/live/([%w_-]+)")
        return id
    end
    local _, name = utils.split_path(path)
    local stem = name:gsub("%.[^.]+$", "")
    return stem:match("%[([%w_-]+)%]$") or stem
end

local function search(text)
    if running then
        mp.abort_async_command(running)
        running = nil
    end
    scenes, chosen, suggestion = {}, 1, nil
    local id = video()
    if not id or text == "" then
        note = id and "" or WORDS.no_video
        return draw()
    end
    local arguments = {}
    for _, word in ipairs(options.command ~= "" and { options.command } or COMMAND) do
        arguments[#arguments + 1] = word
    end
    local home = options.home ~= "" and options.home or HOME
    if home ~= "" then
        arguments[#arguments + 1] = "--home=" .. home
    end
    for _, word in ipairs({ "search", "--video=" .. id, "--limit=" .. options.limit, "--json", "--", text }) do
        arguments[#arguments + 1] = word
    end
    note = WORDS.searching
    draw()
    local command = { name = "subprocess", args = arguments, capture_stdout = true, capture_stderr = true, playback_only = false }
    running = mp.command_native_async(command, function(success, result)
        running = nil
        local answer = success and result.stdout and utils.parse_json(result.stdout) or nil
        if answer and answer.result then
            scenes = answer.result.scenes
            suggestion = (answer.result.suggestions or {})[1]
            note = #scenes == 0 and WORDS.nothing or ""
            if suggestion then
                note = note .. " " .. WORDS.suggestion .. " " .. suggestion.query
            end
        else
            local failure = answer and answer.errors and answer.errors[1]
            note = failure and failure.message or WORDS.failed
        end
        draw()
    end)
end

local close

local function choose(number)
    local scene = scenes[number or chosen]
    if scene then
        mp.commandv("seek", scene.jump.at, "absolute+exact")
        close()
    end
end

local function typed(text)
    for _, character in ipairs(characters(text)) do
        table.insert(query, at, character)
        at = at + 1
    end
    state, scenes, note, suggestion = "typing", {}, "", nil
    draw()
end

local function take_suggestion()
    if suggestion then
        query = characters(suggestion.query)
        at = #query + 1
        search(suggestion.query)
    end
end

-- mpv has a property from 0.40 on; before it, the programs of mpv's own console.lua
local PASTE = {
    { "wl-paste", "--no-newline" }, { "xclip", "-selection", "clipboard", "-out" }, { "pbpaste" },
    { "powershell", "-NoProfile", "-Command", "[Console]::OutputEncoding = [Text.Encoding]::UTF8; Get-Clipboard -Raw" },
}

local function paste()
    local text = mp.get_property("clipboard/text")
    for _, arguments in ipairs(text and {} or PASTE) do
        local result = mp.command_native({ name = "subprocess", args = arguments, capture_stdout = true, playback_only = false })
        if result and result.status == 0 then
            text = result.stdout
            break
        end
    end
    typed(((text or ""):gsub("%c+", " "):gsub("^ +", ""):gsub(" +$", "")))
end

local function move(step)
    if #scenes > 0 then
        chosen = (chosen - 1 + step) % #scenes + 1
        draw()
    end
end

local KEYS = {
    { "ESC", function() close() end },
    { "ENTER", function()
        if #scenes > 0 then
            choose()
        else
            search(table.concat(query))
        end
    end },
    { "BS", function()
        if at > 1 then
            at = at - 1
            table.remove(query, at)
            scenes, note = {}, ""
            draw()
        end
    end },
    { "DEL", function()
        if at <= #query then
            table.remove(query, at)
            scenes, note = {}, ""
            draw()
        end
    end },
    { "LEFT", function() at = math.max(1, at - 1) draw() end },
    { "RIGHT", function() at = math.min(#query + 1, at + 1) draw() end },
    { "UP", function() move(-1) end },
    { "DOWN", function() move(1) end },
    { "SPACE", function() typed(" ") end },
    { "TAB", take_suggestion },
    { "Ctrl+v", paste },
    { "Shift+INS", paste },
}

function close()
    state = nil
    for number in ipairs(KEYS) do
        mp.remove_key_binding("subtitle-rag-key-" .. number)
    end
    mp.remove_key_binding("subtitle-rag-text")
    draw()
end

local function open()
    if state then
        return
    end
    state, query, at, scenes, note, suggestion = "typing", {}, 1, {}, WORDS.help, nil
    for number, key in ipairs(KEYS) do
        mp.add_forced_key_binding(key[1], "subtitle-rag-key-" .. number, key[2], { repeatable = true })
    end
    mp.add_forced_key_binding("any_unicode", "subtitle-rag-text", function(event)
        if event.key_text and event.key_text ~= "" and event.event ~= "up" then
            typed(event.key_text)
        end
    end, { repeatable = true, complex = true })
    draw()
end

mp.add_key_binding(options.key, "search", open)
mp.register_script_message("search", function(text)
    open()
    query = characters(text)
    at = #query + 1
    search(text)
end)
mp.register_script_message("choose", function(number)
    choose(tonumber(number))
end)
