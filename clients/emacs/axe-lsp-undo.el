;;; axe-lsp-undo.el --- Show and undo the file changes of a run  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; What a run has changed in files is shown as differences, and only what
;; was shown is put back.  Knows no servers.

;;; Code:

(require 'axe-lsp-words)
(require 'cl-lib)
(require 'diff)
(require 'subr-x)

(defconst axe-lsp-undo--buffer "*axe undo*"
  "Where it is shown what an undo would change.")

(defun axe-lsp-undo-files (found part)
  "Return the files in FOUND that an undo of PART would put back."
  (cl-remove-if-not (lambda (file) (plist-get file :digest)) (axe-lsp-undo--of-part found part)))

(defun axe-lsp-undo--of-part (found part)
  "Return the files in FOUND that PART is about, which may have a `:path'."
  (let ((path (plist-get part :path)))
    (cl-remove-if-not (lambda (file) (or (null path) (equal path (plist-get file :path))))
                      (append (plist-get found :files) nil))))

(defun axe-lsp-undo--whose (agent part)
  "Say which PART of a run of AGENT is undone."
  (let ((turn (or (plist-get part :turn) (plist-get part :fromTurn)))
        (agent (axe-lsp-words-shorten agent)))
    (if turn (format "turn %d of %s" turn agent) (concat "this run of " agent))))

(defun axe-lsp-undo-agreed (agent found part)
  "Show what PART of a run of AGENT has changed, by FOUND, and ask the user.
PART may have a `:turn', a `:fromTurn', and the `:path' of a file.  Return a
vector of the files to put back, nil for none."
  (let* ((files (axe-lsp-undo--of-part found part))
         (wanted (axe-lsp-undo-files found part))
         (remarks (append (mapcar #'axe-lsp-undo--left (cl-set-difference files wanted))
                          (and (eq (plist-get found :hasCommands) t)
                               '("the effects of commands stay")))))
    (cond
     ((null wanted)
      (message "axe: %s" (string-join (cons (concat "there is nothing to undo in "
                                                    (axe-lsp-undo--whose agent part))
                                            remarks)
                                      "; "))
      nil)
     ((axe-lsp-undo--agrees-p
       (string-join (append remarks (mapcar #'axe-lsp-undo-difference wanted)) "\n")
       (format "Put back %s as before %s? " (axe-lsp-undo--files wanted)
               (axe-lsp-undo--whose agent part)))
      (vconcat (mapcar (lambda (file)
                         (list :path (plist-get file :path) :digest (plist-get file :digest)))
                       wanted))))))

(defun axe-lsp-undo-tell (outcome)
  "Tell the user of OUTCOME, and show put back files as they are now."
  (let ((undone (append (plist-get outcome :undone) nil))
        (left (append (plist-get outcome :left) nil)))
    (mapc #'axe-lsp-undo--refresh undone)
    (message "axe: %s" (string-join (cons (concat (axe-lsp-undo--files undone) " put back")
                                          (mapcar #'axe-lsp-undo--left left))
                                    "; "))))

(defun axe-lsp-undo--files (files)
  "Say how many FILES there are."
  (format "%d file%s" (length files) (if (= (length files) 1) "" "s")))

(defun axe-lsp-undo--left (file)
  "Say why FILE is left."
  (format "%s is left: %s" (axe-lsp-words-visible (abbreviate-file-name (plist-get file :path)))
          (plist-get file :reason)))

(defun axe-lsp-undo--agrees-p (text prompt)
  "Show TEXT, differences, and ask PROMPT."
  (with-current-buffer (get-buffer-create axe-lsp-undo--buffer)
    (let ((inhibit-read-only t))
      (erase-buffer)
      (insert (axe-lsp-words-visible text)))
    (diff-mode)
    (setq buffer-read-only t)
    (goto-char (point-min))
    (display-buffer (current-buffer)))
  (unwind-protect
      (y-or-n-p prompt)
    (quit-windows-on axe-lsp-undo--buffer t)))

(defun axe-lsp-undo-difference (file)
  "Return what the undo would change in FILE, as diff -u does.
A text that is nil is that of no file; a large file has none."
  (let ((path (plist-get file :path))
        (before (plist-get file :before))
        (after (plist-get file :after))
        (inhibit-message t) ; Emacs would tell of its temporary files.
        (coding-system-for-read 'utf-8-unix)
        (coding-system-for-write 'utf-8-unix))
    (if (not (or before after))
        (format "%s is too large to compare\n" path)
      (let ((old (make-temp-file "axe-before" nil nil (or before "")))
            (new (make-temp-file "axe-after" nil nil (or after ""))))
        (unwind-protect
            (with-temp-buffer
              (call-process diff-command nil t nil "-u"
                            "--label" (if before path "/dev/null")
                            "--label" (if after path "/dev/null")
                            old new)
              (buffer-string))
          (delete-file old)
          (delete-file new))))))

(defun axe-lsp-undo--refresh (path)
  "Show PATH as it is now where it is visited, unless that would lose edits."
  (when-let ((buffer (find-buffer-visiting path)))
    (when (and (file-exists-p path) (not (buffer-modified-p buffer)))
      (with-current-buffer buffer
        (revert-buffer t t t)))))

(provide 'axe-lsp-undo)
;;; axe-lsp-undo.el ends here
