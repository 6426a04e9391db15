;;; axe-lsp-log.el --- Show what happens in runs of agents  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The buffer of the runs: a line for each event, indented by depth.
;;
;; One run at a time writes its text as it arrives.  What others say
;; meanwhile is kept until it is their turn to write, because pieces of
;; parallel answers in one another's lines would be unreadable.

;;; Code:

(require 'cl-lib)
(require 'json)
(require 'subr-x)

(defconst axe-lsp-log--longest 160
  "So many characters of a task, an error or arguments are shown.")

(defvar-local axe-lsp-log--speaker nil
  "The id of the run that writes its text as it arrives.")
(defvar-local axe-lsp-log--in-line nil
  "Whether the speaker's last line has no end yet.")
(defvar-local axe-lsp-log--owed ""
  "The ends of lines after which the speaker has said nothing yet.")
(defvar-local axe-lsp-log--unheard nil
  "What others have said meanwhile: an alist by the ids of their runs.")

(defvar axe-runs-mode-map (make-sparse-keymap)
  "Keys of `axe-runs-mode'.")

(define-derived-mode axe-runs-mode special-mode "Axe Runs"
  "Major mode of the buffer that shows what agents do.
\\<axe-runs-mode-map>\\[axe-stop] stops a run.

\\{axe-runs-mode-map}"
  (setq-local truncate-lines nil
              word-wrap t
              font-lock-defaults
              '((("^ *\\([^ \n]+\\) |" 1 'shadow)
                 ("^ *\\([^ \n]+\\) [▶·→←⟳] " 1 'font-lock-function-name-face)
                 ("^ *[^ \n]+ \\(✓ [a-z]+\\)" 1 'success)
                 ("^ *[^ \n]+ \\(✗ .*\\)" 1 'error)
                 ("^ *[^ \n]+ ← \\(.* failed after .*\\)" 1 'warning))
                t)))

(defun axe-lsp-log-buffer ()
  "Return the buffer in which all is shown."
  (or (get-buffer "*axe runs*")
      (with-current-buffer (get-buffer-create "*axe runs*")
        (axe-runs-mode)
        (current-buffer))))

(defun axe-lsp-log-event (method event)
  "Show EVENT, the params of the notification METHOD."
  (with-current-buffer (axe-lsp-log-buffer)
    (pcase (list method (plist-get event :kind))
      ('(axe/agent "begin") (axe-lsp-log--line event (axe-lsp-log--beginning event)))
      ('(axe/agent "end")
       (axe-lsp-log--end-speech event (axe-lsp-log--kept event))
       (axe-lsp-log--line event (axe-lsp-log--ending event)))
      ('(axe/turn "begin") (axe-lsp-log--line event (axe-lsp-log--turn event)))
      ('(axe/turn "retry") (axe-lsp-log--line event (axe-lsp-log--retry event)))
      ('(axe/turn "end") (axe-lsp-log--end-speech event (plist-get event :text)))
      ('(axe/text nil) (axe-lsp-log--speak event))
      ('(axe/tool "begin") (axe-lsp-log--line event (axe-lsp-log--call event)))
      ('(axe/tool "end") (axe-lsp-log--line event (axe-lsp-log--return event))))))

(defun axe-lsp-log-lost (begun)
  "End a run of which nobody will say how it has ended; BEGUN is its beginning."
  (with-current-buffer (axe-lsp-log-buffer)
    (axe-lsp-log--end-speech begun (axe-lsp-log--kept begun))
    (axe-lsp-log--line begun "✗ killed: the language server has stopped")))

(defun axe-lsp-log-shorten (text)
  "TEXT in one line that is not too long."
  (truncate-string-to-width (string-join (split-string text) " ")
                            axe-lsp-log--longest nil nil "…"))


;;; What the events say

(defun axe-lsp-log--beginning (event)
  "What is said of an agent that begins, by EVENT."
  (let ((model (plist-get event :model))
        (task (or (plist-get event :description) (plist-get event :task))))
    (string-join (remove "" (list "▶" (axe-lsp-log-shorten task)
                                  (if (equal model "") "" (format "(%s)" model))))
                 " ")))

(defun axe-lsp-log--ending (event)
  "What is said of an agent that has ended, by EVENT."
  (let ((status (plist-get event :status))
        (reason (plist-get event :error)))
    (format "%s %s in %s%s · %s, %s, %s%s"
            (if (equal status "completed") "✓" "✗")
            status
            (axe-lsp-log--seconds (plist-get event :durationMs))
            ;; A cancelled run gives that as the reason too; once is enough.
            (if (or (not reason) (equal reason status)) "" (concat ": " (axe-lsp-log-shorten reason)))
            (axe-lsp-log--count (plist-get event :turns) "turn")
            (axe-lsp-log--count (plist-get event :toolCalls) "tool call")
            (axe-lsp-log--used event)
            (let ((tree (plist-get event :tree)))
              (if tree (format ", %s with all agents" (axe-lsp-log--used tree)) "")))))

(defun axe-lsp-log--used (by)
  "What was used, and what it cost if that is known, BY an agent or a tree."
  (let ((cost (plist-get by :cost)))
    (format "%d tokens in, %d out%s"
            (plist-get by :inputTokens)
            (plist-get by :outputTokens)
            (if cost (format ", $%.4f" cost) ""))))

(defun axe-lsp-log--turn (event)
  "What is said of a turn that begins, by EVENT."
  (format "· turn %d, %s" (plist-get event :turn)
          (axe-lsp-log--count (plist-get event :messages) "message")))

(defun axe-lsp-log--retry (event)
  "What is said of a request that is sent again, by EVENT."
  (format "⟳ %s: %s; sent again in %s (%d of %d)"
          (plist-get event :category)
          (axe-lsp-log-shorten (plist-get event :message))
          (axe-lsp-log--seconds (plist-get event :waitMs))
          (plist-get event :attempt)
          (plist-get event :maxAttempts)))

(defun axe-lsp-log--call (event)
  "What is said of a tool call, by EVENT.
What a child is asked to do stands in its own line."
  (let* ((arguments (plist-get event :arguments))
         (child (and (equal (plist-get event :name) "call_agent") (plist-get arguments :agent)))
         (shown (cond ((stringp child) child)
                      (arguments (axe-lsp-log-shorten (json-encode arguments)))
                      (t "{}"))))
    (format "→ %s %s" (plist-get event :name) shown)))

(defun axe-lsp-log--return (event)
  "What is said of a tool call that is over, by EVENT."
  (let ((name (plist-get event :name))
        (duration (axe-lsp-log--seconds (plist-get event :durationMs))))
    (if (eq (plist-get event :isError) t)
        (format "← %s failed after %s: %s" name duration
                (axe-lsp-log-shorten (plist-get event :content)))
      (format "← %s in %s" name duration))))

(defun axe-lsp-log--seconds (milliseconds)
  "MILLISECONDS in words."
  (format "%.1f s" (/ milliseconds 1000.0)))

(defun axe-lsp-log--count (number noun)
  "NUMBER of things that are called NOUN."
  (format "%d %s%s" number noun (if (= number 1) "" "s")))


;;; Writing

(defun axe-lsp-log--speak (event)
  "Write the piece of an answer in EVENT, or keep it for later."
  (let* ((run (plist-get event :runId))
         (said (concat (axe-lsp-log--kept event) (plist-get event :delta))))
    (unless axe-lsp-log--speaker
      (setq axe-lsp-log--speaker run))
    (if (equal axe-lsp-log--speaker run)
        (progn
          (axe-lsp-log--forget event)
          (axe-lsp-log--write-speech event (concat axe-lsp-log--owed said)))
      (setf (alist-get run axe-lsp-log--unheard nil nil #'equal) said))))

(defun axe-lsp-log--write-speech (event text)
  "Write TEXT of the speaker, whom EVENT names; ends of lines at its end are owed."
  (let* ((spoken (string-trim-right text "\n+"))
         (prefix (axe-lsp-log--prefix event "| ")))
    (setq axe-lsp-log--owed (substring text (length spoken)))
    (unless (equal spoken "")
      (axe-lsp-log--write (concat (if axe-lsp-log--in-line "" prefix)
                                  (string-replace "\n" (concat "\n" prefix) spoken)))
      (setq axe-lsp-log--in-line t))))

(defun axe-lsp-log--end-speech (event text)
  "Write TEXT, all that the run of EVENT has said, unless it was as it came."
  (axe-lsp-log--forget event)
  (cond ((equal axe-lsp-log--speaker (plist-get event :runId))
         (axe-lsp-log--end-line)
         (setq axe-lsp-log--speaker nil
               axe-lsp-log--owed ""))
        ((not (equal text ""))
         (dolist (line (split-string (string-trim-right text "\n+") "\n"))
           (axe-lsp-log--line event (concat "| " line))))))

(defun axe-lsp-log--line (event text)
  "Write TEXT about EVENT as a line of its own."
  (axe-lsp-log--end-line)
  (axe-lsp-log--write (concat (axe-lsp-log--prefix event text) "\n")))

(defun axe-lsp-log--end-line ()
  "End the line in which the speaker is."
  (when axe-lsp-log--in-line
    (axe-lsp-log--write "\n")
    (setq axe-lsp-log--in-line nil
          axe-lsp-log--owed (string-remove-prefix "\n" axe-lsp-log--owed))))

(defun axe-lsp-log--prefix (event text)
  "TEXT after the agent of EVENT, indented by its depth."
  (concat (make-string (* 2 (plist-get event :depth)) ?\s) (plist-get event :agent) " " text))

(defun axe-lsp-log--kept (event)
  "What the run of EVENT has said while another one was writing."
  (alist-get (plist-get event :runId) axe-lsp-log--unheard "" nil #'equal))

(defun axe-lsp-log--forget (event)
  "Forget what the run of EVENT has said."
  (setf (alist-get (plist-get event :runId) axe-lsp-log--unheard nil t #'equal) nil))

(defun axe-lsp-log--write (text)
  "Append TEXT; windows that show the end go on showing it."
  (let ((following (cl-remove-if-not (lambda (window) (= (window-point window) (point-max)))
                                     (get-buffer-window-list nil nil t)))
        (inhibit-read-only t))
    (save-excursion
      (goto-char (point-max))
      (insert text))
    (dolist (window following)
      (set-window-point window (point-max)))))

(provide 'axe-lsp-log)
;;; axe-lsp-log.el ends here
