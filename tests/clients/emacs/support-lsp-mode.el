;;; support-lsp-mode.el --- What the scenarios with lsp-mode share  -*- lexical-binding: t; -*-

;;; Commentary:

;; lsp-mode as a user has it who is not asked anything.

;;; Code:

(load (expand-file-name "support" (file-name-directory load-file-name)))
(require 'lsp-mode)

(setq lsp-auto-guess-root t
      lsp-warn-no-matched-clients nil
      lsp-enable-file-watchers nil
      lsp-restart 'auto-restart ; By default it asks.
      lsp-session-file (expand-file-name "lsp-session" (getenv "HOME")))

(defun codes ()
  "The codes of the diagnostics of this buffer."
  (let (found)
    (maphash (lambda (file diagnostics)
               (when (equal (file-truename file) (file-truename buffer-file-name))
                 (dolist (each diagnostics)
                   (push (gethash "code" each) found))))
             (lsp-diagnostics))
    (sort found #'string<)))

(defun wait-for-codes (&rest expected)
  "Wait until the codes of the diagnostics are EXPECTED."
  (wait-for (format "the codes %S" expected) (lambda () (equal (codes) expected))))

(defun go-behind (text)
  "Put point behind TEXT."
  (goto-char (point-min))
  (search-forward text))

;;; support-lsp-mode.el ends here
