;;; axe-lsp-changes.el --- The files that a run has changed  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A list of the files that a run has changed, and of its turns.  Files are
;; compared in a buffer of differences or with Ediff, and put back alone, by
;; turn, or all.

;;; Code:

(require 'axe-lsp-undo)
(require 'axe-lsp-words)
(require 'cl-lib)
(require 'project)
(require 'subr-x)

(declare-function axe-lsp-send "axe-lsp-runs" (server method params on-result))
(declare-function axe-lsp-runs-undo-part "axe-lsp-runs" (server run part done))

(defvar-local axe-lsp-changes--server nil
  "The server that knows the run of this buffer.")

(defvar-local axe-lsp-changes--run nil
  "The run of this buffer: a plist with `:runId', `:agent' and its task.")

(defvar-local axe-lsp-changes--turn nil
  "The turn whose files this buffer lists; nil for the whole run.")

(defvar axe-changes-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'axe-changes-open)
    (define-key map "e" #'axe-changes-ediff)
    (define-key map "u" #'axe-changes-undo)
    map)
  "Keys of `axe-changes-mode'.")

(define-derived-mode axe-changes-mode special-mode "Axe Changes"
  "Major mode of the list of files that a run has changed.

\\{axe-changes-mode-map}"
  (setq-local revert-buffer-function (lambda (&rest _) (axe-lsp-changes--load))))

(defun axe-lsp-changes-show (server run)
  "Show the files that RUN has changed, which SERVER knows."
  (with-current-buffer (get-buffer-create "*axe changes*")
    (axe-changes-mode)
    (setq axe-lsp-changes--server server
          axe-lsp-changes--run run)
    (axe-lsp-changes--load)
    (pop-to-buffer (current-buffer))))

(defun axe-lsp-changes--ask (more use)
  "Ask the server for the changed files of this list, with MORE params.
USE gets the answer, in this buffer."
  (let ((buffer (current-buffer)))
    (axe-lsp-send axe-lsp-changes--server "axe/changes"
                  (append (list :runId (plist-get axe-lsp-changes--run :runId))
                          (and axe-lsp-changes--turn (list :turn axe-lsp-changes--turn))
                          more)
                  (lambda (changes)
                    (when (buffer-live-p buffer)
                      (with-current-buffer buffer (funcall use changes)))))))

(defun axe-lsp-changes--load ()
  "List the files of this buffer again."
  (axe-lsp-changes--ask nil #'axe-lsp-changes--write))

(defun axe-lsp-changes--write (changes)
  "Write the list again.
CHANGES is an answer to axe/changes."
  (let ((inhibit-read-only t)
        (line (line-number-at-pos)))
    (erase-buffer)
    (axe-lsp-changes--line
     nil (axe-lsp-words-head axe-lsp-changes--run)
     (if axe-lsp-changes--turn (format " · turn %d" axe-lsp-changes--turn) "")
     " · " (or (axe-lsp-words-changes changes) "no changed files"))
    (seq-do (lambda (file)
              (axe-lsp-changes--line (list :file file)
                                     (axe-lsp-changes--file file (plist-get changes :left))))
            (plist-get changes :files))
    (unless axe-lsp-changes--turn
      (seq-do (lambda (turn)
                (when (equal (plist-get turn :runId) (plist-get axe-lsp-changes--run :runId))
                  (axe-lsp-changes--line (list :turn (plist-get turn :turn))
                                         (format "  turn %d · " (plist-get turn :turn))
                                         (axe-lsp-words-changed-files turn))))
              (plist-get changes :turns)))
    (when (eq (plist-get changes :hasCommands) t)
      (axe-lsp-changes--line nil "  ! changes by commands are not known"))
    (goto-char (point-min))
    (forward-line (1- line))))

(defun axe-lsp-changes--line (about &rest texts)
  "Insert TEXTS as a line ABOUT a file or a turn; nil for the whole list."
  (insert (propertize (concat (apply #'concat texts) "\n") 'axe-lsp-about about)))

(defun axe-lsp-changes--file (file left)
  "Return the line about FILE.  LEFT are files that undo would leave."
  (let* ((path (plist-get file :path))
         (reason (plist-get (seq-find (lambda (each) (equal (plist-get each :path) path)) left)
                            :reason)))
    (concat "  " (pcase (plist-get file :kind) ("added" "A") ("deleted" "D") (_ "M"))
            " " (axe-lsp-words-visible (axe-lsp-changes--short path))
            "  " (axe-lsp-words-lines file)
            (cond ((eq (plist-get file :isUndone) t) "  put back")
                  (reason (concat "  undo leaves it: " (axe-lsp-words-shorten reason)))
                  (t "")))))

(defun axe-lsp-changes--short (path)
  "Return PATH relative to the project of this buffer, if it is in that."
  (let* ((project (project-current))
         (root (if project (expand-file-name (project-root project)) default-directory)))
    (if (string-prefix-p root path)
        (substring path (length root))
      (abbreviate-file-name path))))

(defun axe-lsp-changes--about ()
  "The file or the turn of the line of point: a plist, nil for all."
  (get-text-property (line-beginning-position) 'axe-lsp-about))

(defun axe-lsp-changes--with-texts (use)
  "Call USE with the file of the line, with its texts before and after."
  (let ((path (plist-get (plist-get (axe-lsp-changes--about) :file) :path)))
    (axe-lsp-changes--ask
     '(:texts t)
     (lambda (changes)
       (when-let ((file (seq-find (lambda (each) (equal (plist-get each :path) path))
                                  (plist-get changes :files))))
         (run-at-time 0 nil use file))))))

(defun axe-changes-open ()
  "Show the differences of the file of the line.
On the line of a turn list its files, on the first line those of the run."
  (interactive)
  (let ((about (axe-lsp-changes--about)))
    (if (plist-get about :file)
        (axe-lsp-changes--with-texts #'axe-lsp-changes--diff)
      (setq axe-lsp-changes--turn (plist-get about :turn))
      (axe-lsp-changes--load))))

(defun axe-lsp-changes--diff (file)
  "Show the differences of FILE."
  (with-current-buffer (get-buffer-create "*axe differences*")
    (let ((inhibit-read-only t))
      (erase-buffer)
      (insert (axe-lsp-words-visible (axe-lsp-undo-difference file))))
    (diff-mode)
    (setq buffer-read-only t)
    (goto-char (point-min))
    (display-buffer (current-buffer))))

(defun axe-changes-ediff ()
  "Compare the file of the line, before and after, with Ediff."
  (interactive)
  (unless (plist-get (axe-lsp-changes--about) :file)
    (user-error "There is no file on this line"))
  (axe-lsp-changes--with-texts
   (lambda (file)
     (ediff-buffers (axe-lsp-changes--text file :before) (axe-lsp-changes--text file :after)))))

(defun axe-lsp-changes--text (file when)
  "Return a buffer with the text that FILE had WHEN, `:before' or `:after'."
  (let ((path (plist-get file :path)))
    (with-current-buffer (generate-new-buffer
                          (format "%s (%s)" (file-name-nondirectory path) (substring (symbol-name when) 1)))
      (insert (or (plist-get file when) ""))
      (let ((buffer-file-name path)
            (enable-local-variables nil))
        (delay-mode-hooks (set-auto-mode)))
      (setq buffer-read-only t)
      (set-buffer-modified-p nil)
      (current-buffer))))

(defun axe-changes-undo ()
  "Put back the file or the turn of the line, on the first line all, if you agree."
  (interactive)
  (let* ((about (axe-lsp-changes--about))
         (turn (or (plist-get about :turn) axe-lsp-changes--turn))
         (file (plist-get about :file))
         (buffer (current-buffer)))
    (axe-lsp-runs-undo-part axe-lsp-changes--server axe-lsp-changes--run
                            (append (and turn (list :turn turn))
                                    (and file (list :path (plist-get file :path))))
                            (lambda (_)
                              (when (buffer-live-p buffer)
                                (with-current-buffer buffer (axe-lsp-changes--load)))))))

(provide 'axe-lsp-changes)
;;; axe-lsp-changes.el ends here
