;;; axe-lsp-words.el --- What is said of runs  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; What happens in runs of agents, in a line each.  Events are plists with
;; the members of the protocol.

;;; Code:

(require 'cl-lib)
(require 'json)
(require 'subr-x)

(defconst axe-lsp-words--longest 160
  "Characters of a task, an error or arguments that are shown.")

(defconst axe-lsp-words--exact
  '(:after :before :callId :childRunId :digest :id :inputSchema :parentRunId :path
    :rootRunId :runId :uri)
  "Members that are sent back, compared or visited as they are.
Who shows one calls `axe-lsp-words-visible' with it.")

(defconst axe-lsp-words--obeyed
  "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
  "Characters that a terminal obeys, or that turn a text round.")

(defun axe-lsp-words--sign (character)
  "Return the sign that is shown for CHARACTER, a string."
  (let ((code (string-to-char character)))
    (string (cond ((< code 32) (+ #x2400 code))
                  ((= code 127) #x2421)
                  (t #xfffd)))))

(defun axe-lsp-words-visible (value)
  "Return VALUE, which a server sends, with signs for characters that have effects.
Files and models choose its texts: names of agents and tools, descriptions,
messages, answers."
  (cond
   ((stringp value)
    (let ((text (substring-no-properties value)))
      (if (string-match-p axe-lsp-words--obeyed text)
          (replace-regexp-in-string axe-lsp-words--obeyed #'axe-lsp-words--sign
                                    (string-replace "\r\n" "\n" text) t t)
        text)))
   ((vectorp value) (vconcat (mapcar #'axe-lsp-words-visible value)))
   ((keywordp (car-safe value))
    (cl-loop for (name each) on value by #'cddr
             collect name
             collect (if (memq name axe-lsp-words--exact) each (axe-lsp-words-visible each))))
   ((consp value) (mapcar #'axe-lsp-words-visible value))
   (t value)))

(defun axe-lsp-words-shorten (text)
  "TEXT in one line that is not too long."
  (truncate-string-to-width (string-join (split-string (axe-lsp-words-visible text)) " ")
                            axe-lsp-words--longest nil nil "…"))

(defun axe-lsp-words-seconds (milliseconds)
  "MILLISECONDS in words."
  (format "%.1f s" (/ milliseconds 1000.0)))

(defun axe-lsp-words--count (number noun)
  "NUMBER of things that are called NOUN."
  (format "%d %s%s" number noun (if (= number 1) "" "s")))

(defun axe-lsp-words-lines (file)
  "The changed lines of FILE, if they are known."
  (if (plist-get file :added)
      (format "+%d −%d" (plist-get file :added) (plist-get file :removed))
    "lines not known"))

(defun axe-lsp-words-changed-files (sum)
  "The number of changed files, `:files' in SUM, with their lines."
  (concat (axe-lsp-words--count (plist-get sum :files) "file") " " (axe-lsp-words-lines sum)))

(defun axe-lsp-words-changes (changes)
  "The number of changed files with their lines; nil for none.
Files that are as before do not count.  CHANGES is an answer to axe/changes."
  (let ((files (seq-remove (lambda (file) (eq (plist-get file :isUndone) t))
                           (plist-get changes :files)))
        (sum (lambda (name files)
               (apply #'+ (mapcar (lambda (file) (or (plist-get file name) 0)) files)))))
    (unless (seq-empty-p files)
      (axe-lsp-words-changed-files (list :files (length files)
                                         :added (funcall sum :added files)
                                         :removed (funcall sum :removed files))))))

(defun axe-lsp-words-used (by)
  "Tokens, and what they cost if that is known, BY an agent, a turn or a tree."
  (let ((cost (plist-get by :cost)))
    (format "%d tokens in, %d out%s"
            (plist-get by :inputTokens)
            (plist-get by :outputTokens)
            (if cost (format ", $%.4f" cost) ""))))

(defun axe-lsp-words-name (begun)
  "The name of a side run, else that of the agent, by the event BEGUN."
  (or (plist-get begun :side) (plist-get begun :agent)))

(defun axe-lsp-words-head (begun)
  "Which agent does what, by the event BEGUN."
  (let ((task (axe-lsp-words-shorten (or (plist-get begun :description) (plist-get begun :task) ""))))
    (concat (axe-lsp-words-shorten (axe-lsp-words-name begun))
            (if (plist-get begun :side) " (side run)" "")
            (if (equal task "") "" (concat ": " task)))))

(defun axe-lsp-words-ending (ended)
  "The mark of an agent that has ended, by the event ENDED."
  (pcase (plist-get ended :status)
    ("completed" "✓")
    ("cancelled" "■")
    (_ "✗")))

(defun axe-lsp-words-at-work (model waits seconds)
  "The text about a running agent: its MODEL, and its time in SECONDS.
WAITS says whether it waits for the user."
  (concat model
          (if waits " · waits for your answer" "")
          (if seconds (format " · %d s" seconds) "")))

(defun axe-lsp-words-time (text)
  "The time TEXT of the protocol, which is UTC, in the user's time zone."
  (format-time-string "%Y-%m-%d %H:%M" (date-to-time text)))

(defconst axe-lsp-words--incomplete
  '(("length" . "cut off at the output limit")
    ("context_window" . "context window full")
    ("content_filter" . "stopped by a content filter")
    ("refusal" . "refused by the model")
    ("paused" . "paused by the provider")
    ("malformed_call" . "malformed call")
    ("interrupted" . "broken off by a message"))
  "Why an answer is not whole.")

(defun axe-lsp-words-incomplete (ended)
  "Why the answer of an agent or a turn is incomplete, by the event ENDED.
Nil if it is whole.  A later server may know more reasons."
  (when-let ((reason (plist-get ended :incomplete)))
    (alist-get reason axe-lsp-words--incomplete reason nil #'equal)))

(defun axe-lsp-words-idle (event)
  "The names of those for which an agent waits, by EVENT."
  (concat "waits for " (string-join (append (plist-get event :sideRuns) nil) ", ")))

(defconst axe-lsp-words--modes
  '(("after" . " for the end of the run") ("now" . ", given at once"))
  "When messages are given that are not given before the next request.")

(defun axe-lsp-words-message (event)
  "The news of a message, or the texts that a request gives, by EVENT."
  (let ((mode (alist-get (plist-get event :mode) axe-lsp-words--modes "" nil #'equal))
        (text (plist-get event :text)))
    (pcase (plist-get event :kind)
      ("queued" (concat "message" mode ": " (axe-lsp-words-shorten text)))
      ("changed" (concat "message changed" mode
                         (if text (concat ": " (axe-lsp-words-shorten text)) "")))
      ("removed" "message removed")
      (_ (concat "given: " (axe-lsp-words--given event))))))

(defun axe-lsp-words--given (event)
  "The answers and messages that EVENT gives."
  (let* ((sides (append (plist-get event :sideRuns) nil))
         (messages (length (plist-get event :messageIds)))
         (answers (and sides (concat (if (cdr sides) "answers of " "answer of ")
                                     (string-join sides ", ")))))
    (string-join
     (delq nil (list answers
                     (and (or (< 0 messages) (null sides))
                          (axe-lsp-words--count (max 1 messages) "message"))))
     " and ")))

(defun axe-lsp-words-figures (ended)
  "The figures of an agent that has ended, by the event ENDED.
The reason of an incomplete answer comes first."
  (let ((tree (plist-get ended :tree))
        (incomplete (axe-lsp-words-incomplete ended)))
    (string-join
     (append (and incomplete (list incomplete))
             (list (axe-lsp-words-seconds (plist-get ended :durationMs))
                   (axe-lsp-words--count (plist-get ended :turns) "turn")
                   (axe-lsp-words--count (plist-get ended :toolCalls) "tool call")
                   (axe-lsp-words-used ended))
             (and tree (list (concat (axe-lsp-words-used tree) " with all agents"))))
     " · ")))

(defun axe-lsp-words-problem (ended)
  "Why an agent has not done what it should, by ENDED; nil where it has.
A cancelled one gives that as the reason too; once is enough."
  (let ((status (plist-get ended :status))
        (reason (or (plist-get ended :error) (plist-get ended :reason))))
    (cond ((and reason (not (equal reason status)))
           (concat status ": " (axe-lsp-words-shorten reason)))
          ((not (equal status "completed")) status))))

(defun axe-lsp-words-call (event)
  "The text about a tool call, from EVENT."
  (let ((arguments (plist-get event :arguments)))
    (concat (axe-lsp-words-shorten (plist-get event :name)) " "
            (if arguments (axe-lsp-words-shorten (json-encode arguments)) "{}"))))

(defun axe-lsp-words-starts-an-agent-p (tool)
  "Whether TOOL is one to start an agent, of which there will be news."
  (or (member tool '("call_agent" "Task")) (string-prefix-p "subagent--" tool)))

(defun axe-lsp-words-retry (event)
  "The text about a request that is sent again, from EVENT."
  (format "%s: %s; sent again in %s (%d of %d)"
          (plist-get event :category)
          (axe-lsp-words-shorten (plist-get event :message))
          (axe-lsp-words-seconds (plist-get event :waitMs))
          (plist-get event :attempt)
          (plist-get event :maxAttempts)))

(defun axe-lsp-words-place (event)
  "Where the tools of an agent in a copy work, or what they wait for, by EVENT.
It is nil for the usual place."
  (let ((place (plist-get event :place))
        (waiting (plist-get event :waiting))
        (reason (plist-get event :reason)))
    (cond
     (waiting (concat "waits for " waiting
                      (unless (string-empty-p place) (concat " at " place))))
     ((not (equal place "here"))
      (concat "works at " place
              (when reason (concat ", since " (axe-lsp-words-shorten reason))))))))

(defun axe-lsp-words-wait (event)
  "Why a request waits for its provider, by EVENT."
  (let ((wait (plist-get event :waitMs)))
    (concat (plist-get event :provider)
            (if wait
                (concat " asked for a pause: waiting for " (axe-lsp-words-seconds wait))
              " takes no more requests at once: waiting for others"))))

(defun axe-lsp-words-context (event)
  "The text about a conversation too long for its model, from EVENT."
  (let ((kind (plist-get event :kind))
        (reason (plist-get event :error)))
    (cond
     ((equal kind "begin")
      (format "asks for a summary, since about %d tokens are too many"
              (plist-get event :tokensBefore)))
     (reason (concat "no summary: " (axe-lsp-words-shorten reason)))
     (t (format "%s, about %d to %d tokens"
                (if (equal kind "end")
                    (format "%d messages replaced by a summary" (plist-get event :messages))
                  (format "%d old tool results shortened" (plist-get event :results)))
                (plist-get event :tokensBefore)
                (plist-get event :tokensAfter))))))

(provide 'axe-lsp-words)
;;; axe-lsp-words.el ends here
