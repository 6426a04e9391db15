;;; axe-lsp-tree.el --- Show what happens in runs of agents  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The buffers of runs: a line for each thing that happens, those of an
;; agent below its head, and inside them those of the agents that it calls.
;; Times and tokens stand behind the lines, in overlays.
;;
;; Agents that work at the same time write in their own places: what
;; happens is put behind the last line of its agent and of all below it.

;;; Code:

(require 'axe-lsp-folds)
(require 'axe-lsp-words)
(require 'cl-lib)
(require 'outline)

(cl-defstruct axe-lsp-item
  "A line, and what it tells of.
KIND is `run', `turn', `text', `tool' or `message'.
FENCE is a pair: a distance from START, and the sign that opened the block of
code there."
  kind run begun ended turn thought start end overlay (owed "") fence)

(cl-defstruct axe-lsp-run
  "An agent at work, or one that has been: what it BEGUN and ENDED with.
QUESTIONS is how many it and those below it wait for; SECONDS how long it works."
  begun ended head last children turn text thought last-turn calls (questions 0) seconds)

(defvar-local axe-lsp-tree--runs nil
  "The runs that this buffer shows, by their ids.")

(defcustom axe-lsp-show-markdown nil
  "Whether the signs of Markdown are shown in the buffers of runs.
It counts for buffers that are made afterwards."
  :type 'boolean
  :group 'axe-lsp)

(defconst axe-lsp-tree--sign '(face shadow invisible axe-markdown)
  "The text properties of a sign of Markdown.")

(defvar axe-runs-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "TAB") #'outline-cycle)
    (define-key map (kbd "<backtab>") #'outline-cycle-buffer)
    (define-key map "n" #'axe-runs-next)
    (define-key map "p" #'axe-runs-previous)
    map)
  "Keys of `axe-runs-mode'.")

(defconst axe-lsp-tree--head "^ *[▶?✓■✗] "
  "The beginning of the first line of an agent.")

(defun axe-lsp-tree--in-code-p ()
  "Whether the line of point belongs to a block of code."
  (let* ((here (line-beginning-position))
         (item (get-text-property here 'axe-lsp-item)))
    (and item
         (axe-lsp-item-start item)
         (save-match-data
           (save-excursion
             (axe-lsp-tree--fence item here))))))

(defun axe-lsp-tree--fence (item here)
  "The sign that opened the block of code of ITEM that is open at HERE, or nil.
A text is read on from where it was read last, since it only grows."
  (let* ((start (axe-lsp-item-start item))
         (known (axe-lsp-item-fence item))
         (goes-on (and known (<= (+ start (car known)) here)))
         (fence (and goes-on (cdr known))))
    (goto-char (if goes-on (+ start (car known)) start))
    (while (re-search-forward "^ *│ *\\(```+\\|~~~+\\)\\(.*\\)$" here t)
      (let ((sign (match-string-no-properties 1))
            (rest (match-string-no-properties 2)))
        (if fence
            (when (and (string-prefix-p fence sign) (string-blank-p rest))
              (setq fence nil))
          (unless (and (string-prefix-p "`" sign) (string-match-p "`" rest))
            (setq fence sign)))))
    (setf (axe-lsp-item-fence item) (cons (max 0 (- here start)) fence))
    fence))

(defun axe-lsp-tree--to-text ()
  "Go to where each kind of Markdown in a line is looked for.
That is the end of the line if it belongs to a block of code."
  (if (axe-lsp-tree--in-code-p)
      (end-of-line)
    (back-to-indentation))
  (line-end-position))

(defun axe-lsp-tree--in-inline-code-p (position)
  "Whether POSITION, in the line of point, is between two backticks."
  (let ((end (line-end-position))
        (in-code nil))
    (save-match-data
      (save-excursion
        (goto-char (line-beginning-position))
        (while (search-forward "`" position t)
          (setq in-code (not in-code)))
        (and in-code (search-forward "`" end t))))))

(defun axe-lsp-tree--find-signs (regexp limit)
  "Search for REGEXP up to LIMIT; its groups 1 and 3 are signs of Markdown.
Inline code is skipped, as asterisks belong to the code there."
  (let (found)
    (while (and (setq found (re-search-forward regexp limit t))
                (or (axe-lsp-tree--in-inline-code-p (match-beginning 1))
                    (axe-lsp-tree--in-inline-code-p (match-beginning 3))))
      (goto-char (1+ (match-beginning 1))))
    found))

(defun axe-lsp-tree--find-bold (limit)
  "Search for a bold text up to LIMIT."
  (axe-lsp-tree--find-signs "\\(\\*\\*\\)\\([^ *\n][^*\n]*\\)\\(\\*\\*\\)" limit))

(defun axe-lsp-tree--find-italic (limit)
  "Search for an italic text up to LIMIT."
  (axe-lsp-tree--find-signs "\\(?:^\\|[^*]\\)\\(\\*\\)\\([^ *\n][^*\n]*[^ *\n]\\)\\(\\*\\)"
                            limit))

(define-derived-mode axe-runs-mode special-mode "Axe Runs"
  "Major mode of the buffers that show what agents do.

\\{axe-runs-mode-map}"
  (setq-local truncate-lines nil
              word-wrap t
              ;; Everything but what agents say is a heading, so that an agent
              ;; ends where the one that has called it goes on.
              outline-regexp " *[▶?✓■✗·~→⟳!] "
              outline-level (lambda () (1+ (/ (current-indentation) 2)))
              axe-lsp-tree--runs (make-hash-table :test 'equal)
              font-lock-defaults
              '((("^ *▶ \\([^:\n]+\\)" 1 'font-lock-function-name-face)
                 ("^ *✓ \\([^:\n]+\\)" 1 'success)
                 ("^ *✗ \\([^:\n]+\\)" 1 'error)
                 ("^ *\\? \\([^:\n]+\\)" 1 'warning)
                 ("^ *■ \\([^:\n]+\\)" 1 'shadow)
                 ("^ *\\(· turn [0-9]+\\)$" 1 'shadow)
                 ("^ *\\(│\\)" (1 'shadow)
                  ;; Markdown in the text of an agent.
                  ("│ \\(#+ \\)\\(.*\\)" (axe-lsp-tree--to-text) nil
                   (1 axe-lsp-tree--sign) (2 'bold))
                  (axe-lsp-tree--find-bold
                   (axe-lsp-tree--to-text) nil
                   (1 axe-lsp-tree--sign) (2 'bold) (3 axe-lsp-tree--sign))
                  (axe-lsp-tree--find-italic
                   (axe-lsp-tree--to-text) nil
                   (1 axe-lsp-tree--sign) (2 'italic) (3 axe-lsp-tree--sign))
                  ("\\(`\\)\\([^`\n]+\\)\\(`\\)"
                   (axe-lsp-tree--to-text) nil
                   (1 axe-lsp-tree--sign) (2 'font-lock-constant-face) (3 axe-lsp-tree--sign)))
                 ("^ *\\(~ .*\\)" 1 'shadow)
                 ("^ *→ \\([^ \n]+\\)" 1 'font-lock-constant-face)
                 ("^ *\\([⟳!] .*\\)" 1 'warning))
                t))
  (setq-local line-prefix nil
              font-lock-extra-managed-props '(invisible))
  (unless axe-lsp-show-markdown
    (add-to-invisibility-spec 'axe-markdown))
  (outline-minor-mode))

(defun axe-runs-next (&optional count)
  "Go to the next agent, or COUNT agents further."
  (interactive "p")
  (dotimes (_ (or count 1))
    (end-of-line)
    (if (re-search-forward axe-lsp-tree--head nil t)
        (beginning-of-line)
      (beginning-of-line)
      (user-error "No agent below this one"))))

(defun axe-runs-previous (&optional count)
  "Go to the agent before this line, or COUNT agents back."
  (interactive "p")
  (dotimes (_ (or count 1))
    (beginning-of-line)
    (unless (re-search-backward axe-lsp-tree--head nil t)
      (user-error "No agent above this one"))))

(defun axe-lsp-tree-buffer (name)
  "Return the buffer NAME for agents at work, an empty one if there is none."
  (or (get-buffer name)
      (with-current-buffer (get-buffer-create name)
        (axe-runs-mode)
        (current-buffer))))

(defun axe-lsp-tree-tell (buffer method event)
  "Show in BUFFER what has happened: EVENT, the params of METHOD."
  (with-current-buffer buffer
    (let ((run (gethash (plist-get event :runId) axe-lsp-tree--runs)))
      (when (and run (not (eq method 'axe/thought)))
        (axe-lsp-tree--end-thought run (equal (plist-get event :kind) "retry")))
      (pcase (list method (plist-get event :kind))
        ('(axe/agent "begin") (axe-lsp-tree--begin-run event))
        ('(axe/agent "resume") (axe-lsp-tree--resume-run run event))
        ((guard (not run)) nil) ; It began before anybody listened.
        ('(axe/agent "end") (axe-lsp-tree--end-run run event))
        ('(axe/agent "idle")
         (axe-lsp-tree--say run "⟳ " (axe-lsp-words-idle event) (make-axe-lsp-item :kind 'run)))
        (`(axe/message ,_)
         (axe-lsp-tree--say run "⟳ " (axe-lsp-words-message event)
                            (make-axe-lsp-item :kind 'message :begun event)))
        ('(axe/turn "begin") (axe-lsp-tree--begin-turn run event))
        ('(axe/turn "retry")
         (axe-lsp-tree--say run "⟳ " (axe-lsp-words-retry event) (make-axe-lsp-item :kind 'turn)))
        ('(axe/turn "end") (axe-lsp-tree--end-turn run event))
        ('(axe/text nil) (axe-lsp-tree--speak run (plist-get event :delta)))
        ('(axe/thought nil) (axe-lsp-tree--think run (plist-get event :delta)))
        ('(axe/place nil)
         (when-let ((told (axe-lsp-words-place event)))
           (axe-lsp-tree--say run "⟳ " told
                              (make-axe-lsp-item :kind 'text :turn (axe-lsp-run-turn run)))))
        ('(axe/wait nil)
         (axe-lsp-tree--say run "⟳ " (axe-lsp-words-wait event)
                            (make-axe-lsp-item :kind 'text :turn (axe-lsp-run-turn run))))
        (`(axe/context ,_)
         (axe-lsp-tree--say run "⟳ " (axe-lsp-words-context event)
                            (make-axe-lsp-item :kind 'text :turn (axe-lsp-run-turn run))))
        ('(axe/tool "begin") (axe-lsp-tree--begin-tool run event))
        ('(axe/tool "end") (axe-lsp-tree--end-tool run event))))))

(defun axe-lsp-tree-lose (buffer run-id)
  "Show in BUFFER that nobody will say how the run RUN-ID has ended."
  (axe-lsp-tree-tell buffer 'axe/agent
                     (list :runId run-id :kind "end" :status "killed"
                           :error "the language server has stopped")))

(defun axe-lsp-tree-show-time (buffer run-id seconds)
  "Show in BUFFER that RUN-ID is at work since SECONDS."
  (with-current-buffer buffer
    (when-let ((run (gethash run-id axe-lsp-tree--runs)))
      (unless (axe-lsp-run-ended run)
        (setf (axe-lsp-run-seconds run) seconds)
        (axe-lsp-tree--show-work run)))))

(defun axe-lsp-tree-ask (buffer run-id more)
  "Show in BUFFER that RUN-ID has MORE questions for the user, 1 or -1.
It waits, and those that have called it."
  (with-current-buffer buffer
    (let ((run (gethash run-id axe-lsp-tree--runs)))
      (while run
        ;; A buffer that was made meanwhile knows nothing of a question that is settled now.
        (setf (axe-lsp-run-questions run) (max 0 (+ (axe-lsp-run-questions run) more)))
        (unless (axe-lsp-run-ended run)
          (axe-lsp-tree--show-work run))
        (setq run (gethash (plist-get (axe-lsp-run-begun run) :parentRunId)
                           axe-lsp-tree--runs))))))

(defun axe-lsp-tree--show-work (run)
  "Show that RUN is at work, or waits for the user's answer."
  (let ((head (axe-lsp-run-head run))
        (waits (< 0 (axe-lsp-run-questions run))))
    (axe-lsp-tree--mark head (if waits "?" "▶"))
    (axe-lsp-tree--figures head (axe-lsp-words-at-work
                                 (plist-get (axe-lsp-run-begun run) :model)
                                 waits (axe-lsp-run-seconds run)))))

(defun axe-lsp-tree-item ()
  "Return the item of the line of point."
  (get-text-property (line-beginning-position) 'axe-lsp-item))

(defun axe-lsp-tree-root (run)
  "Return the root of RUN in this buffer."
  (gethash (plist-get (axe-lsp-run-begun run) :rootRunId) axe-lsp-tree--runs run))


;;; What happens

(defun axe-lsp-tree--begin-run (event)
  "An agent begins, by EVENT."
  (let* ((parent (gethash (plist-get event :parentRunId) axe-lsp-tree--runs))
         (run (make-axe-lsp-run :begun event))
         (head (make-axe-lsp-item :kind 'run :run run)))
    (axe-lsp-tree--add (if parent (axe-lsp-tree--end parent) (point-max))
                       (plist-get event :depth) "▶ " (axe-lsp-words-head event) head)
    (setf (axe-lsp-run-head run) head
          (axe-lsp-run-last run) head)
    (when parent
      (push run (axe-lsp-run-children parent)))
    (puthash (plist-get event :runId) run axe-lsp-tree--runs)
    (axe-lsp-tree--figures head (plist-get event :model))))

(defun axe-lsp-tree--end-run (run event)
  "RUN ends, by EVENT."
  (setf (axe-lsp-run-ended run) event)
  (when-let ((problem (axe-lsp-words-problem event)))
    (axe-lsp-tree--say run "! " problem (make-axe-lsp-item :kind 'run)))
  (when-let ((changes (plist-get event :changes)))
    (axe-lsp-tree--say run (if (plist-get event :unapplied) "! " "⟳ ") changes
                       (make-axe-lsp-item :kind 'run)))
  (let ((head (axe-lsp-run-head run)))
    (axe-lsp-tree--mark head (axe-lsp-words-ending event))
    (axe-lsp-tree--figures head (if (plist-get event :durationMs)
                                    (axe-lsp-words-figures event)
                                  (plist-get event :status)))))

;; What the former process had left open is over.
(defun axe-lsp-tree--resume-run (run event)
  "Let RUN, nil if it is not shown yet, go on by EVENT in another process."
  (unless run
    (axe-lsp-tree--begin-run event)
    (setq run (gethash (plist-get event :runId) axe-lsp-tree--runs)))
  (setf (axe-lsp-run-ended run) nil
        (axe-lsp-run-text run) nil
        (axe-lsp-run-calls run) nil
        (axe-lsp-run-seconds run) nil)
  (axe-lsp-tree--show-work run)
  (axe-lsp-tree--say run "⟳ " (format "resumed at turn %d" (plist-get event :turn))
                     (make-axe-lsp-item :kind 'run)))

(defun axe-lsp-tree--begin-turn (run event)
  "A turn of RUN begins, by EVENT."
  (let ((turn (make-axe-lsp-item :kind 'turn)))
    (axe-lsp-tree--say run "· " (format "turn %d" (plist-get event :turn)) turn)
    (setf (axe-lsp-run-turn run) turn
          (axe-lsp-run-text run) nil)))

(defun axe-lsp-tree--end-turn (run event)
  "A turn of RUN ends, by EVENT."
  (unless (axe-lsp-run-text run)
    (axe-lsp-tree--speak run (plist-get event :text)))
  (setf (axe-lsp-run-text run) nil
        (axe-lsp-run-last-turn run) event)
  (when-let ((incomplete (axe-lsp-words-incomplete event)))
    (axe-lsp-tree--say run "! " incomplete
                       (make-axe-lsp-item :kind 'text :turn (axe-lsp-run-turn run))))
  (when-let ((turn (axe-lsp-run-turn run)))
    (setf (axe-lsp-item-ended turn) event)
    (axe-lsp-tree--figures turn (concat (axe-lsp-words-seconds (plist-get event :durationMs))
                                        " · " (axe-lsp-words-used event)))))

(defun axe-lsp-tree--begin-tool (run event)
  "A tool call of RUN begins, by EVENT."
  (let ((item (make-axe-lsp-item :kind 'tool :run run :begun event)))
    (push (cons (plist-get event :callId) item) (axe-lsp-run-calls run))
    (unless (axe-lsp-words-starts-an-agent-p (plist-get event :name))
      (axe-lsp-tree--say run "→ " (axe-lsp-words-call event) item))))

(defun axe-lsp-tree--end-tool (run event)
  "A tool that RUN has called has ended, by EVENT."
  (when-let ((item (alist-get (plist-get event :callId) (axe-lsp-run-calls run) nil nil #'equal)))
    (let* ((is-error (eq (plist-get event :isError) t))
           ;; What is cancelled with its agent need not be said of each call.
           (has-failed (and is-error (not (equal (plist-get event :content) "cancelled"))))
           (begun (axe-lsp-item-begun item)))
      (setf (axe-lsp-item-ended item) event)
      (when (and has-failed (not (axe-lsp-item-start item)) (not (plist-get event :childRunId)))
        (axe-lsp-tree--say run "→ " (axe-lsp-words-call begun) item))
      (when (axe-lsp-item-start item)
        (axe-lsp-tree--figures item (concat (if is-error "failed after " "")
                                            (axe-lsp-words-seconds (plist-get event :durationMs))))
        (when has-failed
          (axe-lsp-tree--say run "! " (axe-lsp-words-shorten (plist-get event :content))
                             (make-axe-lsp-item :kind 'tool :begun begun :ended event)))))))

(defun axe-lsp-tree--think (run delta)
  "Keep DELTA, a piece of the thoughts of RUN, which the answer omits."
  (when-let ((turn (and (not (axe-lsp-run-thought run)) (axe-lsp-run-turn run))))
    (axe-lsp-tree--figures turn "thinking"))
  (setf (axe-lsp-run-thought run) (concat (axe-lsp-run-thought run) delta)))

(defun axe-lsp-tree--end-thought (run is-void)
  "Write what RUN has thought as one line, unless IS-VOID."
  (let ((thought (string-trim (or (axe-lsp-run-thought run) "")))
        (turn (axe-lsp-run-turn run)))
    (setf (axe-lsp-run-thought run) nil)
    (unless (or is-void (equal thought ""))
      (axe-lsp-tree--say run "~ " (axe-lsp-words-shorten thought)
                         (make-axe-lsp-item :kind 'text :turn turn))
      (when turn
        (setf (axe-lsp-item-thought turn)
              (concat (axe-lsp-item-thought turn) (and (axe-lsp-item-thought turn) "\n\n")
                      thought))))))

(defun axe-lsp-tree--speak (run text)
  "Write TEXT as words of RUN.
The ends of lines at its end wait for what comes after them."
  (let* ((item (axe-lsp-run-text run))
         (said (concat (if item (axe-lsp-item-owed item) "") text))
         (spoken (string-trim-right said "\n+")))
    (unless (equal spoken "")
      (unless item
        (setq item (make-axe-lsp-item :kind 'text :turn (axe-lsp-run-turn run)))
        (axe-lsp-tree--say run "│ " "" item)
        (setf (axe-lsp-run-text run) item))
      (setf (axe-lsp-item-owed item) (substring said (length spoken)))
      (axe-lsp-tree--change
       (lambda ()
         (goto-char (1- (axe-lsp-item-end item)))
         (let* ((depth (1+ (axe-lsp-tree--depth run)))
                (folds (axe-lsp-folds-at (point)))
                (indent (make-string (* 2 depth) ?\s)))
           (insert (propertize (string-replace "\n" (concat "\n" indent "│ ") spoken)
                               'axe-lsp-item item))
           (axe-lsp-folds-keep folds depth (point))))))))


;;; Writing

(defun axe-lsp-tree--depth (run)
  "How deep RUN is."
  (plist-get (axe-lsp-run-begun run) :depth))

(defun axe-lsp-tree--end (run)
  "Where the lines of RUN, and of all below it, end."
  (apply #'max (marker-position (axe-lsp-item-end (axe-lsp-run-last run)))
         (mapcar #'axe-lsp-tree--end (axe-lsp-run-children run))))

(defun axe-lsp-tree--say (run mark text item)
  "Write TEXT of RUN after MARK as a line, which is ITEM."
  (setf (axe-lsp-item-run item) run)
  (axe-lsp-tree--add (axe-lsp-tree--end run) (1+ (axe-lsp-tree--depth run)) mark text item)
  (setf (axe-lsp-run-last run) item))

(defun axe-lsp-tree--add (position depth mark text item)
  "Write at POSITION a line of DEPTH with MARK and TEXT, which is ITEM."
  (axe-lsp-tree--change
   (lambda ()
     (goto-char position)
     (let ((folds (axe-lsp-folds-at position)))
       (insert (propertize (concat (make-string (* 2 depth) ?\s) mark
                                   (string-replace "\n" " " text) "\n")
                           'axe-lsp-item item))
       (setf (axe-lsp-item-start item) (copy-marker position t)
             (axe-lsp-item-end item) (copy-marker (point)))
       (axe-lsp-folds-keep folds depth (1- (point)))))))

(defun axe-lsp-tree--mark (item mark)
  "Exchange the first character of ITEM for MARK, unless it is that."
  (axe-lsp-tree--change
   (lambda ()
     (goto-char (axe-lsp-item-start item))
     (skip-chars-forward " ")
     (unless (eq (char-after) (string-to-char mark))
       ;; Inserted behind the old one, since the end of another agent may stand before it.
       (forward-char)
       (insert (propertize mark 'axe-lsp-item item))
       (delete-region (- (point) 2) (1- (point)))))))

(defun axe-lsp-tree--figures (item figures)
  "Show FIGURES behind the line of ITEM.
They are shown with its last character, since what only follows a line
disappears when the lines below it are folded."
  (save-excursion
    (goto-char (axe-lsp-item-start item))
    (let* ((end (line-end-position))
           (overlay (or (axe-lsp-item-overlay item) (make-overlay (1- end) end))))
      (setf (axe-lsp-item-overlay item) overlay)
      (move-overlay overlay (1- end) end)
      (overlay-put overlay 'display
                   (concat (buffer-substring-no-properties (1- end) end)
                           (propertize (concat "  " figures)
                                       'face '(:inherit shadow :weight normal)))))))

(defun axe-lsp-tree--change (edit)
  "Call EDIT, a function that writes into this buffer.
Where the end is shown it stays so; everything else stays where it is."
  (let ((at-end (= (point) (point-max)))
        (following (cl-remove-if-not (lambda (window) (= (window-point window) (point-max)))
                                     (get-buffer-window-list nil nil t)))
        (inhibit-read-only t))
    (save-excursion (funcall edit))
    (when at-end
      (goto-char (point-max)))
    (dolist (window following)
      (set-window-point window (point-max)))))

(provide 'axe-lsp-tree)
;;; axe-lsp-tree.el ends here
