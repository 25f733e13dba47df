import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IOUtils;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.spark.internal.io.FileCommitProtocol;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Stands for the S3A committer: what a task writes is pending, and appears when the job is committed, without a
 * rename. Only attempts that the driver has heard of are committed; those of a lost driver never are. S3A
 * completes uploads then; a folder has none, so the driver copies.
 */
public class StoreCommit extends FileCommitProtocol implements Serializable {
  private final String job;
  private final String out;
  private transient List<String> mine;
  private transient String attempt;

  public StoreCommit(String job, String out, boolean dynamicPartitions) {
    this.job = job;
    this.out = out;
  }

  private Path pending() {
    return new Path(out, "__pending-" + job);
  }

  @Override
  public void setupJob(JobContext context) {
    try {
      pending().getFileSystem(context.getConfiguration()).mkdirs(pending());
    } catch (IOException error) {
      throw new RuntimeException(error);
    }
  }

  @Override
  public void setupTask(TaskAttemptContext context) {
    mine = new ArrayList<>();
    attempt = UUID.randomUUID().toString();
  }

  @Override
  public String newTaskTempFile(TaskAttemptContext context, Option<String> folder, String ending) {
    int part = context.getTaskAttemptID().getTaskID().getId();
    mine.add(String.format("part-%05d-%s%s", part, job, ending));
    return new Path(pending(), attempt + "-" + mine.get(mine.size() - 1)).toString();
  }

  @Override
  public String newTaskTempFileAbsPath(TaskAttemptContext context, String folder, String ending) {
    throw new UnsupportedOperationException("no folder but the table's own");
  }

  @Override
  public TaskCommitMessage commitTask(TaskAttemptContext context) {
    List<String> message = new ArrayList<>(List.of(attempt));
    message.addAll(mine);
    return new TaskCommitMessage(message.toArray(new String[0]));
  }

  @Override
  public void abortTask(TaskAttemptContext context) {}

  @Override
  public void commitJob(JobContext context, Seq<TaskCommitMessage> messages) {
    Configuration conf = context.getConfiguration();
    try {
      FileSystem system = pending().getFileSystem(conf);
      for (TaskCommitMessage message : CollectionConverters.asJava(messages)) {
        String[] told = (String[]) message.obj();
        for (int i = 1; i < told.length; i++) {
          try (FSDataInputStream in = system.open(new Path(pending(), told[0] + "-" + told[i]));
              FSDataOutputStream to = system.create(new Path(out, told[i]), false)) {
            IOUtils.copyBytes(in, to, conf, false);
          }
        }
      }
      system.delete(pending(), true);
    } catch (IOException error) {
      throw new RuntimeException(error);
    }
  }

  @Override
  public void abortJob(JobContext context) {
    try {
      pending().getFileSystem(context.getConfiguration()).delete(pending(), true);
    } catch (IOException error) {
      throw new RuntimeException(error);
    }
  }
}
