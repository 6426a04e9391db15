;;; axe-lsp-details.el --- Show messages, arguments and results whole  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The whole of what a line of a run tells of in short.

;;; Code:

(require 'axe-lsp-tree)
(require 'json)

(defun axe-lsp-details-show (item)
  "Show the details of ITEM."
  (let ((text (pcase (axe-lsp-item-kind item)
                ('run (axe-lsp-details--run (axe-lsp-item-run item)))
                ('tool (axe-lsp-details--tool item))
                ('text (axe-lsp-details--turn (axe-lsp-item-run item) (axe-lsp-item-turn item)))
                ('message (axe-lsp-details--message item))
                (_ (axe-lsp-details--turn (axe-lsp-item-run item) item)))))
    (with-current-buffer (get-buffer-create "*axe details*")
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert text))
      (special-mode)
      (setq-local outline-regexp "#+ ")
      (outline-minor-mode)
      (goto-char (point-min)))
    (pop-to-buffer "*axe details*")))

(defun axe-lsp-details--run (run)
  "All about RUN."
  (let* ((begun (axe-lsp-run-begun run))
         (ended (axe-lsp-run-ended run))
         (figures (and (plist-get ended :durationMs) (axe-lsp-words-figures ended))))
    (concat "# " (axe-lsp-words-name begun) "\n\n"
            (string-join (delq nil (list (or (plist-get ended :status) "running")
                                         figures
                                         (plist-get begun :model)))
                         " · ")
            "\n"
            (axe-lsp-details--part "Task" (plist-get begun :task))
            (axe-lsp-details--part "Error" (and ended (axe-lsp-words-problem ended)
                                                (or (plist-get ended :error)
                                                    (plist-get ended :reason))))
            (axe-lsp-details--part "Answer" (plist-get (axe-lsp-run-last-turn run) :text))
            (axe-lsp-details--part "Sources"
                                   (axe-lsp-details--sources (axe-lsp-run-last-turn run))))))

(defun axe-lsp-details--turn (run item)
  "All about the turn ITEM of RUN."
  (let ((turn (and item (axe-lsp-item-ended item))))
    (if (not turn)
        (concat "The model has not answered yet.\n"
                (axe-lsp-details--part "Thinks" (and item (axe-lsp-item-thought item))))
      (concat (format "# %s, turn %d\n\n%s%s · %s\n"
                      (axe-lsp-words-name (axe-lsp-run-begun run))
                      (plist-get turn :turn)
                      (if (plist-get turn :incomplete)
                          (concat (axe-lsp-words-incomplete turn) " · ")
                        "")
                      (axe-lsp-words-seconds (plist-get turn :durationMs))
                      (axe-lsp-words-used turn))
              (axe-lsp-details--part "Thinks" (axe-lsp-item-thought item))
              (axe-lsp-details--part "Says" (plist-get turn :text))
              (axe-lsp-details--part "Sources" (axe-lsp-details--sources turn))
              (mapconcat (lambda (call)
                           (axe-lsp-details--part
                            (concat "Calls " (plist-get call :name))
                            (axe-lsp-details--arguments (plist-get call :arguments))))
                         (plist-get turn :toolCalls) "")))))

(defun axe-lsp-details--tool (item)
  "All about the tool call ITEM."
  (let ((begun (axe-lsp-item-begun item))
        (ended (axe-lsp-item-ended item)))
    (concat "# " (plist-get begun :name) "\n"
            (axe-lsp-details--part "Arguments"
                                   (axe-lsp-details--arguments (plist-get begun :arguments)))
            (axe-lsp-details--part (if (eq (plist-get ended :isError) t) "Error" "Result")
                                   (if ended (plist-get ended :content) "It is still at work.")))))

(defun axe-lsp-details--message (item)
  "All about the message ITEM."
  (let ((event (axe-lsp-item-begun item)))
    (concat "# " (axe-lsp-words-name (axe-lsp-run-begun (axe-lsp-item-run item))) "\n\n"
            (axe-lsp-words-message event) "\n"
            (axe-lsp-details--part "Text" (plist-get event :text)))))

(defun axe-lsp-details--part (title text)
  "TEXT below TITLE; nothing if there is no text."
  (if (member text '(nil "")) "" (format "\n## %s\n\n%s\n" title text)))

(defun axe-lsp-details--sources (turn)
  "The pages and files that the answer of TURN cites, a line each."
  (mapconcat (lambda (source)
               (string-join (delq nil (list "-" (plist-get source :title) (plist-get source :url)))
                            " "))
             (plist-get turn :sources) "\n"))

(defun axe-lsp-details--arguments (arguments)
  "The values of ARGUMENTS by name, texts as they are."
  (let (lines)
    (while arguments
      (let* ((name (axe-lsp-words-visible (substring (symbol-name (pop arguments)) 1)))
             (value (pop arguments))
             (text (if (stringp value) value (json-encode value))))
        (push (concat name (if (string-search "\n" text) ":\n" ": ") text) lines)))
    (string-join (nreverse lines) "\n")))

(provide 'axe-lsp-details)
;;; axe-lsp-details.el ends here
