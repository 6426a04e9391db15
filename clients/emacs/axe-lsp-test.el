;;; axe-lsp-test.el --- Tests of agents  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `axe-test' runs the tests of a file, or all tests of the project, and
;; shows what failed in a buffer of `compilation-mode', so that
;; `next-error' goes to the lines of the expectations.

;;; Code:

(require 'axe-lsp-eglot)
(require 'axe-lsp-runs)
(require 'compile)
(require 'subr-x)
(require 'url-util)

(defconst axe-lsp-test--file "/\\.?axe/tests/[^/]+\\.toml\\'"
  "The pattern of paths of such files.")

;;;###autoload
(defun axe-test (&optional record)
  "Run the cases of this file, or all of the project.
With a prefix argument RECORD the answers of this file are asked for and
stored first."
  (interactive "P")
  (let ((server (axe-lsp-runs--server))
        (file (and buffer-file-name
                   (string-match-p axe-lsp-test--file buffer-file-name)
                   buffer-file-name)))
    (cond
     (file (axe-lsp-test--run server (list (axe-lsp-test--uri file)) (and record t)))
     (record (user-error "This is not a file of tests: open the one with the case"))
     (t (axe-lsp-send
         server "axe/tests" nil
         (lambda (files)
           (axe-lsp-test--run
            server (mapcar (lambda (each) (plist-get each :uri)) (append files nil)) nil)))))))

(defun axe-lsp-test--uri (path)
  "Return the URI of PATH."
  (concat "file://" (url-hexify-string (expand-file-name path) url-path-allowed-chars)))

(defun axe-lsp-test--path (uri)
  "Return the path of URI."
  (decode-coding-string (url-unhex-string (string-remove-prefix "file://" uri)) 'utf-8))

(defun axe-lsp-test--run (server uris record &optional lines counts)
  "Run on SERVER the files URIS, one after the other.
With RECORD the answers are stored first.  LINES and COUNTS are what the
files before have come to."
  (if (null uris)
      (axe-lsp-test--show (apply #'append (reverse lines)) counts)
    (axe-lsp-send
     server "axe/test" (append (list :uri (car uris)) (and record '(:record t)))
     (lambda (answer)
       (let ((results (append (plist-get answer :results) nil)))
         (dolist (each results)
           (let ((verdict (plist-get each :verdict)))
             (setf (alist-get verdict counts 0 nil #'equal)
                   (1+ (alist-get verdict counts 0 nil #'equal)))))
         (push (mapcan (lambda (each) (axe-lsp-test--lines (car uris) each)) results) lines)
         (axe-lsp-test--run server (cdr uris) record lines counts))))))

(defun axe-lsp-test--lines (uri result)
  "Return the lines about a RESULT of the file at URI."
  (let ((path (axe-lsp-test--path uri))
        (name (axe-lsp-words-shorten (plist-get result :name)))
        (failures (append (plist-get result :failures) nil)))
    (cond
     (failures
      (mapcar (lambda (each)
                (format "%s:%d: %s: %s" path (plist-get each :line) name
                        (axe-lsp-words-shorten (plist-get each :message))))
              failures))
     ((equal (plist-get result :verdict) "passed") nil)
     (t (list (format "%s:%d: %s: %s" path (plist-get result :line) name
                      (plist-get result :verdict)))))))

(defun axe-lsp-test--show (lines counts)
  "Show LINES about failures, and the COUNTS of all verdicts."
  (let ((summary (if counts
                     (mapconcat (lambda (each) (format "%d %s" (cdr each) (car each)))
                                (sort (copy-sequence counts)
                                      (lambda (one other) (string< (car one) (car other))))
                                ", ")
                   "there are no tests of agents here")))
    (with-current-buffer (get-buffer-create "*axe tests*")
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert (string-join (append lines (list "" summary)) "\n") "\n"))
      (compilation-mode "Axe-Tests")
      (goto-char (point-min))
      (when lines
        (display-buffer (current-buffer))))
    (message "axe: %s" summary)))

(provide 'axe-lsp-test)

;;; axe-lsp-test.el ends here
